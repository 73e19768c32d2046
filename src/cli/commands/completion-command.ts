/** `stello completion` prints a script that lets a shell complete commands; `stello complete` prints the candidates. */
import { Argument, type Command } from 'commander'
import { candidates, type Named } from './completion-candidates.ts'
import { createOutput } from '../output/output.ts'

/** A person waits with a finger on the key. */
const WITHIN_MS = 2000
/** Newest sessions that are offered. */
const SESSIONS = 50

/**
 * The scripts pass the words on as the program would get them: `last\ week` is one word without its backslash. If there are no
 * candidates, files are offered. bash also cuts words at `@` and `:`, so the line is read anew, and the part before the cut is left
 * out; an `@` belongs to the text after it.
 */
const SCRIPTS = {
  bash: `# eval "$(stello completion bash)"
_stello() {
  local line="\${COMP_LINE:0:COMP_POINT}" typed="\${COMP_WORDS[COMP_CWORD]}" found word kept
  local -a words
  read -a words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=('')
  printf -v kept '%q' "\${words[\${#words[@]}-1]}"
  [[ "$typed" == [:=] ]] && typed=
  kept="\${kept%"$typed"}"
  kept="\${kept%@}"
  COMPREPLY=()
  while IFS= read -r found; do
    printf -v word '%q' "$found"
    COMPREPLY+=("\${word#"$kept"}")
  done < <("\${words[0]}" complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _stello stello
`,
  zsh: `# eval "$(stello completion zsh)", behind compinit
_stello() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _stello stello
`,
  fish: `# stello completion fish | source
function __stello
  set -l found (stello complete -- (string unescape -- (commandline -opc)[2..] (commandline -ct)) 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c stello -f -a '(__stello)'
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
  const { connectStello } = await import('../../client/connect.ts')
  const stello = await connectStello()
  if (kind === 'agent') return stello.agents()
  const sessions = await stello.list({ limit: SESSIONS })
  const open = sessions.filter(({ state }) => state !== 'closed').map(({ label }) => label)
  const labels = open.filter((label) => open.indexOf(label) === open.lastIndexOf(label) && !label.includes('\n'))
  return [...labels, ...sessions.map(({ id }) => id)]
}
