/** The slash commands: one table, which help, completion, the documents and `perform-slash.ts` read. Pure. */

/** Their names. */
export type SlashName =
  | 'help'
  | 'tree'
  | 'fork'
  | 'switch'
  | 'pause'
  | 'resume'
  | 'cancel'
  | 'inbox'
  | 'model'
  | 'usage'
  | 'transcript'
  | 'expand'
  | 'compact'
  | 'open'
  | 'quit'

export interface SlashCommand {
  name: SlashName
  /** The arguments, as help shows them. */
  takes?: string
  means: string
}

/** In the order in which help shows them. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: 'help', means: 'these commands, and the keys' },
  { name: 'tree', means: 'the session and its forks' },
  { name: 'fork', takes: '[label]', means: 'a child session from the conversation so far' },
  { name: 'switch', means: 'talk to another session of the tree' },
  { name: 'pause', takes: '[tree]', means: 'nothing new starts until a resume, here or in the whole tree below' },
  { name: 'resume', takes: '[tree]', means: 'go on after a pause' },
  { name: 'cancel', takes: '[tree]', means: 'stop the turn that runs' },
  { name: 'inbox', means: 'everything that waits for a person, and choose an answer' },
  { name: 'model', means: 'which model answers' },
  { name: 'usage', means: 'turns, calls, tokens and cost so far' },
  { name: 'transcript', means: 'the whole conversation, inherited part first' },
  { name: 'expand', means: 'the whole result of the last call (Ctrl-O)' },
  { name: 'compact', means: 'summarise older messages for the model' },
  { name: 'open', means: 'the links to this session' },
  { name: 'quit', means: 'leave; the session goes on' },
]

/** Reads a line that begins with a slash. A text says what is wrong with it. */
export function readSlash(line: string): { name: SlashName; rest: string } | string {
  const [word = '', ...words] = line.slice(1).trim().split(/\s+/)
  const rest = words.join(' ')
  const command = SLASH_COMMANDS.find(({ name }) => name === word)
  if (!command) return `there is no command /${word}; nothing was sent. /help shows all commands`
  if (rest !== '' && command.takes === undefined) return `/${word} takes nothing behind it; nothing was done`
  if (command.takes === '[tree]' && rest !== '' && rest !== 'tree')
    return `/${word} takes the word tree or nothing; nothing was done`
  return { name: command.name, rest }
}

/** A path at the beginning of a message is no command. */
export function isSlash(line: string): boolean {
  return /^\/[a-z]*(\s|$)/i.test(line)
}

/** The commands that a line may become. */
export function completions(line: string): readonly SlashCommand[] {
  return /^\/[a-z]*$/.test(line) ? SLASH_COMMANDS.filter(({ name }) => name.startsWith(line.slice(1))) : []
}
