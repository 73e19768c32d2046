/** `stello completion` prints what teaches a shell to complete commands, and `stello complete` what it completes with. */
import { Argument, type Command } from 'commander'
import { candidates, type Named } from './completion-candidates.ts'
import { createOutput } from './output.ts'

/** A person waits with a finger on the key. */
const WITHIN_MS = 2000
/** Newest sessions that are offered. */
const SESSIONS = 50

const SCRIPTS = {
  bash: `# eval "$(stello completion bash)"
_stello() {
  local found word
  COMPREPLY=()
  while IFS= read -r found; do
    printf -v word '%q' "$found"
    COMPREPLY+=("$word")
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _stello stello
`,
  zsh: `# eval "$(stello completion zsh)", behind compinit
_stello() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _stello stello
`,
  fish: `# stello completion fish | source
complete -c stello -a '(stello complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
} as const

export function addCompletionCommands(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands, options, agents and sessions in your shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => void process.stdout.write(SCRIPTS[shell]))

  program
    .command('complete [words...]')
    .description('what may stand for the last of these words, one per line; for the script of `stello completion`')
    .action(async (words: string[] = []) => {
      const out = createOutput(false)
      for (const found of await candidates(program, words, namedBy)) out.result(found, found)
    })
}

/** Names that the servers know. None where no server answers soon: a shell has nowhere to show an error. */
async function namedBy(kind: Named): Promise<string[]> {
  const late = new Promise<string[]>((resolve) => void setTimeout(resolve, WITHIN_MS, []).unref())
  return Promise.race([late, ask(kind)]).catch(() => [])
}

async function ask(kind: Named): Promise<string[]> {
  const { connectStello } = await import('../client/connect.ts')
  const stello = await connectStello()
  if (kind === 'agent') return stello.agents()
  const sessions = await stello.list({ limit: SESSIONS })
  const open = sessions.filter(({ state }) => state !== 'closed').map(({ label }) => label)
  const labels = open.filter((label) => open.indexOf(label) === open.lastIndexOf(label) && !label.includes('\n'))
  return [...labels, ...sessions.map(({ id }) => id)]
}
