/**
 * Commands whose files are known, and whether they only read. A command that is not here may do anything. A reader with an
 * unknown option still counts as a reader, unless `refused` names the option: most options only choose what is shown.
 */
import { isOption } from './leading-options.ts'
import { programName } from './inner-commands.ts'
import type { Word } from './word.ts'

export interface KnownCommand {
  readonly: boolean
  reads: readonly Word[]
  writes: readonly Word[]
  /** If the written path is a folder: what is put into it. */
  into?: readonly Word[]
}

interface Rule {
  /** Options with a value; the others have none. Long ones only where the value is a word of its own. */
  valued?: string
  longValued?: readonly string[]
  /** Only options of one letter have values, and a value is always a word of its own: the command has its own syntax. */
  apart?: boolean
  /** Options with which it does more than read, or reads more than its operands. The beginning of a long name counts too. */
  refused?: string
  longRefused?: readonly string[]
  /** Its operands: `first` words that are no files, then files. Unset: no files. */
  files?: { first?: number; access?: 'read' | 'write' | 'copy' | 'move' }
  /** Options that take the place of the first word. The value of `f` is a file that is read. */
  fileOptions?: string
  /** Reads the working folder when no file is named. */
  here?: boolean
  /** How many operands it may have as a reader. */
  most?: number
  /** The beginning of each operand of a reader. */
  begins?: string
}

const FILES = { files: {} }
const RULES: Readonly<Record<string, Rule>> = {
  ...same('cat tac rev cksum sum', FILES),
  ...same('md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum', {
    ...FILES,
    refused: 'c',
    longRefused: ['check'],
  }),
  ...same('echo true false : pwd id whoami uname uptime which type seq expr sleep nproc arch printenv groups tty', {}),
  ...same('basename dirname tr', {}),
  ...same('test [', { refused: 'vR' }),
  ...same('printf', { refused: 'v' }),
  ...same('ls dir vdir', { ...FILES, valued: 'IwT', here: true }),
  ...same('grep egrep fgrep', {
    files: { first: 1 },
    valued: 'mABCdD',
    fileOptions: 'ef',
    longValued: [
      'max-count',
      'after-context',
      'before-context',
      'context',
      'include',
      'exclude',
      'exclude-dir',
      'label',
    ],
    refused: 'R',
    longRefused: ['dereference-recursive', 'regexp', 'file', 'exclude-from'],
    here: true,
  }),
  ...same('base64 base32', { ...FILES, valued: 'w', longValued: ['wrap'], refused: 'o', longRefused: ['output'] }),
  head: { ...FILES, valued: 'nc', longValued: ['lines', 'bytes'] },
  tail: { ...FILES, valued: 'ncs', longValued: ['lines', 'bytes', 'pid', 'sleep-interval'] },
  wc: { ...FILES, longRefused: ['files0-from'] },
  nl: { ...FILES, valued: 'bdfhilnsvw' },
  cut: { ...FILES, valued: 'bcdf', longValued: ['bytes', 'characters', 'delimiter', 'fields', 'output-delimiter'] },
  paste: { ...FILES, valued: 'd', longValued: ['delimiters'] },
  comm: FILES,
  cmp: { ...FILES, valued: 'in' },
  join: { ...FILES, valued: '12aejotv' },
  fold: { ...FILES, valued: 'w' },
  expand: { ...FILES, valued: 't' },
  od: { ...FILES, valued: 'ANSjt' },
  strings: { ...FILES, valued: 'net' },
  stat: { ...FILES, valued: 'c', longValued: ['format', 'printf'] },
  file: { ...FILES, valued: 'FPe', refused: 'Cmf', longRefused: ['compile', 'magic-file', 'files-from'] },
  du: {
    ...FILES,
    valued: 'dBt',
    longValued: ['max-depth', 'threshold'],
    refused: 'LX',
    longRefused: ['dereference', 'files0-from', 'exclude-from'],
    here: true,
  },
  df: FILES,
  diff: {
    ...FILES,
    valued: 'UCWIFx',
    refused: 'rXD',
    longRefused: ['recursive', 'from-file', 'to-file', 'exclude-from'],
  },
  sort: {
    ...FILES,
    valued: 'kSt',
    longValued: ['key', 'buffer-size', 'field-separator', 'sort', 'parallel'],
    refused: 'oT',
    longRefused: ['output', 'compress-program', 'files0-from', 'temporary-directory', 'random-source'],
  },
  uniq: { ...FILES, valued: 'fsw', longValued: ['skip-fields', 'skip-chars', 'check-chars'], most: 1 },
  xxd: { ...FILES, valued: 'cglos', apart: true, most: 1 },
  hexdump: { ...FILES, valued: 'nse', refused: 'f' },
  realpath: FILES,
  readlink: FILES,
  date: { begins: '+', refused: 'sfr', longRefused: ['set', 'file', 'reference'] },
  hostname: { refused: 'bF', longRefused: ['boot', 'file'], most: 0 },
  env: { most: 0, refused: 'SC' },
  command: {},
  cd: { ...FILES, most: 1 },
  tree: { ...FILES, valued: 'LPI', apart: true, refused: 'olR', longRefused: ['fromfile'], here: true },
  jq: {
    files: { first: 1 },
    refused: 'fL',
    longRefused: ['from-file', 'slurpfile', 'rawfile', 'argfile', 'args', 'jsonargs', 'arg', 'argjson'],
  },
  rg: {
    files: { first: 1 },
    fileOptions: 'ef',
    valued: 'gtTABCmMjdEr',
    longValued: [
      'glob',
      'iglob',
      'type',
      'type-not',
      'max-count',
      'after-context',
      'before-context',
      'context',
      'max-depth',
      'replace',
      'sort',
      'color',
      'max-columns',
      'threads',
      'encoding',
    ],
    refused: 'zL',
    longRefused: [
      'pre',
      'pre-glob',
      'hostname-bin',
      'search-zip',
      'follow',
      'ignore-file',
      'regexp',
      'file',
      'files',
      'type-list',
    ],
    here: true,
  },
}

/** Commands that change the files in their operands. */
const WRITERS: Readonly<Record<string, Rule>> = {
  ...same('rm rmdir unlink mkdir tee mkfifo shred', { files: { access: 'write' } }),
  touch: { files: { access: 'write' }, valued: 'dtr', longValued: ['date', 'reference'] },
  truncate: { files: { access: 'write' }, valued: 'sr', longValued: ['size', 'reference'] },
  ...same('chmod chown chgrp', { files: { first: 1, access: 'write' } }),
  cp: { files: { access: 'copy' }, valued: 'St', longValued: ['target-directory', 'suffix'] },
  ln: { files: { access: 'copy' }, valued: 'St', longValued: ['target-directory', 'suffix'] },
  install: { files: { access: 'copy' }, valued: 'gmoSt', longValued: ['group', 'mode', 'owner', 'target-directory'] },
  mv: { files: { access: 'move' }, valued: 'St', longValued: ['target-directory', 'suffix'] },
}

function same(names: string, rule: Rule): Record<string, Rule> {
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]))
}

/** @returns undefined when nothing is known about the command */
export function knownCommand(words: readonly Word[]): KnownCommand | undefined {
  const name = programName(words[0]?.text ?? '')
  if (name === 'find') return readFind(words)
  if (name === 'sed') return readSed(words)
  if (name === 'git') return readGit(words)
  if (Object.hasOwn(RULES, name)) return readBy(RULES[name] as Rule, words, true)
  return Object.hasOwn(WRITERS, name) ? readBy(WRITERS[name] as Rule, words, false) : undefined
}

/** Options that name the folder to which files are copied. */
const TARGET = 'target-directory'
const TARGETS: readonly string[] = ['t', TARGET]
const HERE: Word = { text: '.', known: true }

function readBy(rule: Rule, words: readonly Word[], reader: boolean): KnownCommand {
  const { operands, values, refused, filesBy } = parse(rule, words)
  const { first = 0, access = 'read' } = rule.files ?? {}
  const files = rule.files ? operands.slice(filesBy ? 0 : first) : []
  const counted = rule.most === undefined || (operands.length <= rule.most && !operands.some(({ glob }) => glob))
  const fits = counted && operands.every(({ text }) => text.startsWith(rule.begins ?? ''))
  const readonly = reader && !refused && fits
  if (access === 'write') return { readonly, reads: [], writes: files }
  if (access !== 'read') {
    // The last one is the target, unless an option names it.
    const target = values.find(({ name }) => TARGETS.includes(name))?.value
    const [sources, goal] = target ? [files, target] : [files.slice(0, -1), files.at(-1)]
    const writes = [...(goal ? [goal] : []), ...(access === 'move' ? sources : [])]
    return { readonly, reads: access === 'move' ? [] : sources, writes, into: sources }
  }
  const named = [...files.filter(({ text }) => text !== '-'), ...fromOptions(rule, values)]
  return { readonly, reads: files.length === 0 && rule.here ? [HERE, ...named] : named, writes: [] }
}

/** The files that hold patterns. */
function fromOptions({ fileOptions }: Rule, values: Parsed['values']): Word[] {
  return values.filter(({ name }) => fileOptions !== undefined && name === 'f').map(({ value }) => value)
}

interface Parsed {
  operands: Word[]
  values: { name: string; value: Word }[]
  refused: boolean
  /** An option took the place of the first word. */
  filesBy: boolean
}

function parse(rule: Rule, words: readonly Word[]): Parsed {
  const parsed: Parsed = { operands: [], values: [], refused: false, filesBy: false }
  const careful = Boolean(rule.refused ?? rule.longRefused)
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as Word
    if (word.text === '--') return { ...parsed, operands: [...parsed.operands, ...words.slice(at + 1)] }
    if (word.pipe) parsed.operands.push(word)
    else if (!word.known) {
      parsed.operands.push(word)
      // It may become many words, and one of them may be an option that is refused.
      parsed.refused ||= careful
    } else if (!isOption(word)) parsed.operands.push(word)
    else {
      const option = { text: word.text, next: words[at + 1] }
      at += word.text.startsWith('--') ? long(rule, option, parsed) : short(rule, option, parsed)
    }
  }
  return parsed
}

/** An option, and the word behind it, which may be its value. */
interface Option {
  text: string
  next: Word | undefined
}

/** @returns how many words behind the option belong to it */
function long(rule: Rule, { text, next }: Option, parsed: Parsed): number {
  const [name = ''] = text.slice(2).split('=')
  // A name may be cut short.
  if (rule.longRefused?.some((refused) => refused.startsWith(name) || name.startsWith(`${refused}=`)))
    parsed.refused = true
  // The name of the target is cut short too.
  const full = name !== '' && TARGET.startsWith(name) ? TARGET : name
  if (!rule.longValued?.includes(full)) return 0
  const value = text.includes('=') ? { text: text.slice(text.indexOf('=') + 1), known: true } : next
  if (value) parsed.values.push({ name: full, value })
  return value === next ? 1 : 0
}

/** @returns how many words behind the option belong to it */
function short(rule: Rule, { text, next }: Option, parsed: Parsed): number {
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] ?? ''
    if (rule.refused?.includes(letter)) parsed.refused = true
    const file = rule.fileOptions?.includes(letter)
    if (file) parsed.filesBy = true
    if (!file && (!rule.valued?.includes(letter) || (rule.apart && text.length > 2))) continue
    const attached = text.slice(at + 1)
    const value = attached ? { text: attached, known: true } : next
    if (value) parsed.values.push({ name: letter, value })
    return attached ? 0 : 1
  }
  return 0
}

const FIND_DOES = /^-(?:delete|f(?:ls|print0?|printf)|files0-from|follow)$/

/** The command of its -exec is taken apart by itself. */
function readFind(words: readonly Word[]): KnownCommand {
  const start = words.findIndex(({ text }, index) => index > 0 && !/^-(?:[HLP]|D|O\d?)$/.test(text))
  const rest = start < 0 ? [] : words.slice(start)
  const end = rest.findIndex((word) => /^[-(!]/.test(word.text))
  const paths = end < 0 ? rest : rest.slice(0, end)
  const refused = words.some(({ known, text }) => !known || FIND_DOES.test(text) || /^-[HL]$/.test(text))
  return { readonly: !refused, reads: paths.length > 0 ? paths : [HERE], writes: [] }
}

/** Only `sed -n 3p` and `sed -n 1,5p` are known to do nothing but read; with -i it changes its files. */
function readSed([, ...words]: readonly Word[]): KnownCommand {
  const [option, script, ...files] = words
  const prints = option?.text === '-n' && script?.known && /^(?:\d+|\$)(?:,(?:\+?\d+|\$))?p$/.test(script.text)
  if (prints && !files.some((file) => isOption(file))) return { readonly: true, reads: files, writes: [] }
  const operands = words.filter((word) => !isOption(word))
  const scripted = words.some(({ text }) => /^-[A-Za-z]*[ef]|^--(?:expression|file)/.test(text))
  const changes = words.some(({ known, text }) => known && /^-[A-Za-z]*i|^--in-place/.test(text))
  const named = operands.slice(scripted ? 0 : 1)
  return { readonly: false, reads: changes ? [] : named, writes: changes ? named : [] }
}

/** Other options of git may run programs or write files. */
const GIT: Readonly<Record<string, RegExp>> = {
  status: /^(?:-[sbuz]+|--(?:short|branch|porcelain(?:=v?\d)?|untracked-files(?:=\w+)?|ignored))$/,
  diff: /^(?:-[pwbzU\d]+|--(?:stat|cached|staged|name-only|name-status|shortstat|numstat|no-color|summary|no-ext-diff|no-textconv))$/,
  log: /^(?:-[pn\d]+|--(?:oneline|stat|graph|all|decorate|no-color|name-only|name-status|no-merges|merges|reverse|follow|shortstat|max-count=\d+|(?:since|until|after|before|author|grep|format|pretty|date)=[^]*))$/,
  show: /^(?:-[psq\d]+|--(?:stat|name-only|name-status|oneline|no-color|no-patch|quiet|(?:format|pretty)=[^]*))$/,
  'rev-parse': /^--(?:show-toplevel|abbrev-ref|short|verify|is-inside-work-tree|git-dir|show-prefix)$/,
  'ls-files': /^(?:-[cdmosz]+|--(?:cached|deleted|modified|others|stage|exclude-standard))$/,
  blame: /^(?:-[wlse]+|-L\d+,\+?\d+)$/,
  describe: /^--(?:tags|always|long|dirty|abbrev=\d+)$/,
}

/** The operands of a reader may be files, as in `blame a`, `diff a b` outside of a repository, and `show HEAD:a`. */
function readGit(words: readonly Word[]): KnownCommand {
  if (!isGitReader(words)) return { readonly: false, reads: [HERE], writes: [] }
  const given = words.slice(1).filter((word) => !isOption(word))
  const named = given.slice(1).map(({ text }) => ({ text: text.replace(/^[^:]*:/, ''), known: true }))
  return { readonly: true, reads: [HERE, ...named.filter(({ text }) => text !== '')], writes: [] }
}

function isGitReader([, ...words]: readonly Word[]): boolean {
  const [name, ...rest] = words[0]?.text === '--no-pager' ? words.slice(1) : words
  if (!name?.known || rest.some(({ known, glob, text }) => !known || glob || /^(?:\/|\.\.\/|~)/.test(text)))
    return false
  if (name.text === 'branch')
    return rest.every(({ text }) => /^(?:-[arv]+|--(?:show-current|list|all|remotes))$/.test(text))
  if (name.text === 'remote') return rest.every(({ text }) => text === '-v')
  const allowed = Object.hasOwn(GIT, name.text) ? GIT[name.text] : undefined
  return allowed !== undefined && rest.every((word) => !isOption(word) || allowed.test(word.text) || word.text === '--')
}
