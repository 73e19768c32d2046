/** An example for the help of each command. Ids in them are labels and beginnings of ids, as people type them. */
import type { Command } from 'commander'

export const HELP_EXAMPLES: Readonly<Record<string, string>> = {
  dev: 'stello dev agent.ts',
  server: 'stello server --port 7233 --ui-port 8233',
  stop: 'stello stop',
  worker: 'stello worker agent.ts',
  init: 'stello init agent.ts',
  create: 'stello create tea && cd tea && npm install && npm test',
  health: 'stello health --port 9464',
  migrate: 'stello migrate',
  doctor: 'stello doctor',
  start: 'stello start changes --label "last week" --message "What happened?" --wait',
  send: 'stello send --last "And the week before?" --wait',
  watch: 'stello watch --last --tree',
  tree: 'stello tree "last week" --live',
  list: 'stello list --state paused',
  transcript: 'stello transcript --last',
  stats: 'stello stats --last',
  fork: 'stello fork --last --label "another angle" --context inherit',
  inbox: 'stello inbox',
  answer: 'stello answer --last t3.0.0@0.2 done "Order 17"',
  approve: 'stello approve --last t3.0.1@0.1 --always session',
  deny: 'stello deny --last t3.0.1@0.1 "not on a Friday"',
  permissions: 'stello permissions',
  pause: 'stello pause "last week" --tree --reason lunch',
  resume: 'stello resume --all --reason store_error',
  cancel: 'stello cancel --last',
  compact: 'stello compact --last',
  close: 'stello close "last week" --cascade',
  recover: 'stello recover --all',
  bounds: 'stello bounds --last --max-sessions 2000',
  mcp: 'stello mcp --agent changes',
  completion: 'eval "$(stello completion bash)"',
  complete: 'stello complete -- tree ""',
}

/** Adds to the help of a command its example, if it has one. */
export function withExample(command: Command): Command {
  const example = HELP_EXAMPLES[command.name()]
  return example === undefined ? command : command.addHelpText('after', `\nExample:\n  ${example}`)
}
