/** Programs that run other programs: what they run is taken apart too. */
import { leadingOptions, type Options } from './leading-options.ts'
import { literal, type Word } from './word.ts'

/** A command that another command runs. With neither `words` nor `script` it is not known. */
export interface Inner {
  words?: readonly Word[]
  assignments?: readonly string[]
  /** A text that a shell runs. */
  script?: Word
  /** In another folder. */
  elsewhere?: true
}

export interface InnerCommands {
  runs: readonly Inner[]
  /** The command does nothing but run them, so rules are not asked about the command itself. */
  replaces?: boolean
  /** The shell itself runs them, so that its folder may change. */
  here?: boolean
}

const NONE: InnerCommands = { runs: [] }
const UNKNOWN: InnerCommands = { runs: [{}] }

type Reader = (words: readonly Word[], stdin: Word | undefined) => InnerCommands

/** Programs with options and, perhaps, operands before the command that they run. */
function prefix(options: Options, operands = 0, replaces = true): Reader {
  return (words) => {
    const read = leadingOptions(words, options)
    if (!read || !words.slice(read.next, read.next + operands).every(({ known }) => known)) return UNKNOWN
    const inner = words.slice(read.next + operands)
    return inner.length === 0 ? NONE : { runs: [{ words: inner }], replaces }
  }
}

const shell: Reader = (words, stdin) => {
  const read = leadingOptions(words, { flags: 'abcefhilmnprstuvxBCEHP', valued: 'oO', long: SHELL_OPTIONS })
  if (!read) return UNKNOWN
  const given = new Set(read.given)
  const [operand] = words.slice(read.next)
  if (operand && isInput(operand)) return { runs: [stdin ? { script: stdin } : {}], replaces: true }
  if (given.has('c')) return { runs: [operand ? { script: operand } : {}], replaces: true }
  if (operand?.text.startsWith('+')) return UNKNOWN
  if (operand && !given.has('s')) return NONE
  if (operand === undefined && ['--version', '--help'].some((each) => given.has(each))) return NONE
  return { runs: [stdin ? { script: stdin } : {}], replaces: true }
}
const SHELL_OPTIONS = ['login', 'norc', 'noprofile', 'posix', 'restricted', 'verbose', 'version', 'help']

/** Whether a file name stands for the input of the program. */
function isInput({ text }: Word): boolean {
  return text === '-' || /^\/(?:dev\/(?:stdin|fd\/)|proc\/)/.test(text)
}

/** `source` runs a file in the shell itself. */
const sourced: Reader = (words, stdin) => {
  const operand = words.slice(1).find(({ text }) => text !== '--')
  if (!operand || (operand.known && !operand.pipe && !isInput(operand))) return NONE
  return { runs: [stdin && operand.known && !operand.pipe ? { script: stdin } : {}], here: true }
}

/** Their options that stand before a value, and those that bring a program along or need none. */
const INTERPRETERS: readonly { name: RegExp; valued: RegExp; brings: RegExp }[] = [
  { name: /^(?:python|pypy)[\d.]*$/, valued: /^-[WX]$/, brings: /^-(?:[A-VYZa-z]*[cmVh]|-version|-help)/ },
  {
    name: /^(?:node|nodejs|bun|deno)$/,
    valued: /^(?:-r|--require|--import|--env-file)$/,
    brings: /^(?:-[A-Za-z]*[epvh]|--(?:eval|print|version|help|test))/,
  },
  { name: /^perl[\d.]*$/, valued: /^-I$/, brings: /^-[A-HJ-LN-Za-ln-z]*[eEvV]/ },
  { name: /^ruby[\d.]*$/, valued: /^-[Ir]$/, brings: /^-(?:[A-Za-z]*[eh]|-version)/ },
  { name: /^php[\d.]*$/, valued: /^-[cd]$/, brings: /^-[A-Za-z]*[rfvim]/ },
  { name: /^(?:lua[\d.]*|Rscript)$/, valued: /^-l$/, brings: /^-[ev]/ },
]

/** No rule covers a program that an interpreter reads from its input: a rule for `python3` does not allow what it is given. */
function readsProgram(name: string, [, first, ...rest]: readonly Word[]): boolean {
  const words = /^(?:deno|bun)$/.test(name) && first?.text === 'run' ? rest : [...(first ? [first] : []), ...rest]
  const interpreter = INTERPRETERS.find((each) => each.name.test(name))
  if (!interpreter || words.some(({ text }) => interpreter.brings.test(text))) return false
  const operand = words.find(
    (word, index) =>
      (word.text === '-' || !word.text.startsWith('-')) && !interpreter.valued.test(words[index - 1]?.text ?? ''),
  )
  return operand === undefined || isInput(operand)
}

const evaluate: Reader = (words) => {
  const texts = words.slice(words[1]?.text === '--' ? 2 : 1)
  if (texts.some(({ known, glob, home }) => !known || glob || home)) return UNKNOWN
  return { runs: [{ script: literal(texts.map(({ text }) => text).join(' ')) }], replaces: true, here: true }
}

const env: Reader = (words) => {
  const read = leadingOptions(words, {
    flags: 'i0v',
    valued: 'uS',
    long: ['ignore-environment', 'null', 'debug'],
    longValued: ['unset', 'split-string'],
  })
  if (!read) return UNKNOWN
  // The text of -S has a syntax of its own.
  if (read.given.some((each) => each === 'S' || each === '--split-string'))
    return splitString(read.values, words, read.next)
  let at = read.next
  while (words[at]?.known && /^[A-Za-z_]\w*=/.test(words[at]?.text ?? '')) at++
  const assignments = words.slice(read.next, at).map(({ text }) => text)
  if (words[at] && !words[at]?.known) return UNKNOWN
  if (at === words.length) return NONE
  return { runs: [{ words: words.slice(at), assignments }], replaces: read.given.length === 0 }
}

function splitString(values: readonly Word[], words: readonly Word[], next: number): InnerCommands {
  const [text, ...more] = values
  if (!text?.known || more.length > 0 || /[\\$'"#]/.test(text.text)) return UNKNOWN
  const split = text.text.split(/\s+/).filter(Boolean).map(literal)
  return env([literal('env'), ...split, ...words.slice(next)], undefined)
}

const xargs: Reader = (words) => {
  const read = leadingOptions(words, {
    flags: '0rtx',
    valued: 'dEILnPs',
    long: ['null', 'no-run-if-empty', 'verbose', 'exit'],
    longValued: ['delimiter', 'max-args', 'max-procs', 'max-lines', 'replace', 'max-chars'],
  })
  if (!read) return UNKNOWN
  const replaced = read.given.flatMap((each, index) =>
    each === 'I' || each === '--replace' ? [read.values[index]] : [],
  )
  const given: Word = { text: '…', known: false }
  const inner = words.slice(read.next)
  if (inner.length === 0) inner.push(literal('echo'))
  if (replaced.length === 0) return { runs: [{ words: [...inner, given] }], replaces: true }
  const mark = replaced[0]?.text || '{}'
  return { runs: [{ words: inner.map(unknownWith(mark)) }], replaces: true }
}

function unknownWith(mark: string): (word: Word) => Word {
  return (word) => (word.text.includes(mark) ? { ...word, known: false } : word)
}

/**
 * The files that `{}` stands for. Regular files lie in the folders that are searched, so the folders stand for them. Other files
 * may be links to anywhere.
 */
function foundFiles(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex(({ text }, index) => index > 0 && /^[-(!]/.test(text))
  const paths = words.slice(1, end < 0 ? words.length : end)
  const asks = words.slice(1).map(({ known, text }) => (known ? text : '-o'))
  const regular = asks.some((ask, index) => ask === '-type' && asks[index + 1] === 'f')
  const open = asks.some((ask) => ['-o', '-or', ',', '!', '-not', '-L', '-H', '-follow'].includes(ask))
  if (!regular || open || paths.some(({ glob, home }) => glob || home)) return [{ text: '{}', known: false }]
  return paths.length > 0 ? paths : [literal('.')]
}

const find: Reader = (words) => {
  const runs: Inner[] = []
  const found = foundFiles(words)
  for (let at = 1; at < words.length; at++) {
    const action = words[at]
    if (!action?.known || !/^-(?:exec|ok)(?:dir)?$/.test(action.text)) continue
    const length = words.slice(at + 1).findIndex(({ known, text }) => known && (text === ';' || text === '+'))
    if (length < 1) return UNKNOWN
    const inner = words.slice(at + 1, at + 1 + length)
    const filled = inner.flatMap((word) => (word.text === '{}' ? found : [unknownWith('{}')(word)]))
    runs.push({ words: filled, ...(action.text.endsWith('dir') && { elsewhere: true as const }) })
    at += length + 1
  }
  return { runs }
}

const trap: Reader = (words) => {
  const operands = words.slice(1).filter(({ text }) => text !== '--')
  const [action] = operands
  if (operands.length < 2 || action?.text === '-' || action?.text === '') return NONE
  return action?.text.startsWith('-') ? NONE : { runs: [action ? { script: action } : {}] }
}

const command: Reader = (words) =>
  /^-p?[vV]/.test(words[1]?.text ?? '') ? NONE : prefix({ flags: 'p' })(words, undefined)

const READERS: Readonly<Record<string, Reader>> = {
  bash: shell,
  sh: shell,
  dash: shell,
  ash: shell,
  eval: evaluate,
  source: sourced,
  '.': sourced,
  env,
  xargs,
  find,
  trap,
  command,
  builtin: (words) => (words.length > 1 ? { runs: [{ words: words.slice(1) }], replaces: true, here: true } : NONE),
  exec: prefix({ flags: 'cl', valued: 'a' }),
  timeout: prefix(
    {
      flags: 'fpv',
      valued: 'ks',
      long: ['foreground', 'preserve-status', 'verbose'],
      longValued: ['kill-after', 'signal'],
    },
    1,
  ),
  nohup: prefix({}),
  nice: prefix({ valued: 'n', longValued: ['adjustment'] }),
  ionice: prefix({ flags: 't', valued: 'cn' }),
  time: prefix({ flags: 'p' }),
  stdbuf: prefix({ valued: 'ioe', longValued: ['input', 'output', 'error'] }),
  setsid: prefix({ flags: 'cfw', long: ['ctty', 'fork', 'wait'] }),
  sudo: prefix({ flags: 'AbEHnPSkK', valued: 'ugpChrtTU' }, 0, false),
  doas: prefix({ flags: 'nL', valued: 'uC' }, 0, false),
}

/** They run commands that this file cannot find, so a person decides. */
const OPAQUE = new Set(
  `alias ash bind bwrap busybox chroot chrt complete coproc csh dbus-run-session enable entr expect fakeroot fc firejail
  fish flock gdb ksh mapfile nsenter numactl parallel pkexec prlimit proot readarray runuser script setpriv strace su
  systemd-run taskset tcsh toybox unbuffer unshare watch zsh`.split(/\s+/),
)

/** @param words of a command; the first is known @param stdin what it reads, where that is known */
export function innerOf(words: readonly Word[], stdin: Word | undefined): InnerCommands {
  const name = programName(words[0]?.text ?? '')
  const reader = Object.hasOwn(READERS, name) ? READERS[name] : undefined
  if (reader) return reader(words, stdin)
  return OPAQUE.has(name) || readsProgram(name, words) ? UNKNOWN : NONE
}

/** The name of a program of the system, without its folder. */
export function programName(text: string): string {
  return text.replace(/^(?:\/usr)?\/s?bin\/(?=[^/]+$)/, '')
}
