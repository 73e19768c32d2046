/** The touches of a shell command: its simple commands, and the real paths of the files that it names. */
import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import type { Touch } from '../../tool/touch.ts'
import { realPathOf } from '../sandbox/real-path.ts'
import { bashParser } from './bash-parser.ts'
import { expandGlob } from './expand-glob.ts'
import { programName } from './inner-commands.ts'
import { knownCommand } from './known-commands.ts'
import { forbiddenBelow, readsBelow, type MayRead } from './reads-below.ts'
import { takeApart, type Step } from './take-apart.ts'
import { literal, type Word } from './word.ts'
import type { Cwds } from './working-folders.ts'

/** With more touches, a person reads the command itself. */
const MOST = 200

/**
 * Never throws, and changes nothing.
 *
 * @param cwd where the command would run: absolute, without links
 * @param mayRead says of a path whether rules let it be read; unset: no rule denies anything
 */
export async function touchesOf(command: string, cwd: string, mayRead?: MayRead): Promise<Touch[]> {
  const touches = new Map<string, Touch>()
  for (const step of takeApart(await bashParser(), command, cwd)) {
    for (const touch of await touchesOfStep(step, mayRead)) touches.set(JSON.stringify(touch), touch)
    if (touches.size > MOST) return [unknown(`more than ${MOST} commands and files`)]
  }
  return [...touches.values()]
}

async function touchesOfStep(step: Step, mayRead: MayRead | undefined): Promise<Touch[]> {
  if (step.kind === 'unknown') return [unknown(step.what)]
  if (step.kind !== 'command') return paths(step.kind, step.target, step.cwds)
  const { words, assignments, cwds } = step
  const known = knownCommand(words)
  const argv = words.map(({ text }, index) => (index === 0 ? programName(text) : text))
  const readonly = known?.readonly === true && assignments.every((each) => /^[a-z_][a-z0-9_]*\+?=/.test(each))
  // `LD_PRELOAD=./x npm test` is more than `npm test`: a rule that allows the command does not allow the variable.
  const set = readonly ? [] : assignments
  const touches: Touch[] = [
    ...set.map((each): Touch => ({ kind: 'command', command: each, argv: [each], readonly: false })),
    {
      kind: 'command',
      command: [...assignments, ...words.map((word, index) => shown(word, argv[index] ?? ''))].join(' '),
      argv,
      readonly,
    },
  ]
  for (const word of words) if (await mayBeOption(word, cwds)) touches.push(unknown(`options, as ${word.text} may be`))
  for (const word of known?.reads ?? []) {
    const read = await paths('read', word, cwds)
    touches.push(...read, ...(mayRead && readsBelow(words) ? await hiddenBelow(read, mayRead) : []))
  }
  for (const word of known?.writes ?? []) touches.push(...(await paths('write', word, cwds)))
  const [target] = known?.into ? known.writes : []
  if (target) touches.push(...(await placesIn(await paths('write', target, cwds), known?.into ?? [], cwds)))
  return touches
}

/** A command may read a folder in which a rule denies a file. A person decides then. */
async function hiddenBelow(reads: readonly Touch[], mayRead: MayRead): Promise<Touch[]> {
  const found = await Promise.all(
    reads.map(async (touch) => (touch.kind === 'read' ? forbiddenBelow(touch.path, mayRead) : undefined)),
  )
  return found.flatMap((path) => (path === undefined ? [] : [unknown(`read all files of a folder, with ${path}`)]))
}

/** `cp sub/.env .` writes `./.env`. */
async function placesIn(targets: readonly Touch[], sources: readonly Word[], cwds: Cwds): Promise<Touch[]> {
  const touches: Touch[] = []
  for (const target of targets) {
    if (target.kind !== 'write' || !(await stat(target.path).catch(() => undefined))?.isDirectory()) continue
    for (const source of sources) {
      const found = source.glob ? await paths('read', source, cwds) : [{ kind: 'read', path: source.text } as const]
      for (const touch of found) {
        const name = touch.kind === 'read' ? basename(touch.path) : ''
        if (!/^\.{0,2}$/.test(name)) touches.push(...(await paths('write', literal(join(target.path, name)), [])))
      }
    }
  }
  return touches
}

/** Wildcards may match file names that look like options. */
async function mayBeOption({ glob, text }: Word, cwds: Cwds): Promise<boolean> {
  if (!glob || !/^[-*?[]/.test(text)) return false
  const names = await Promise.all((cwds ?? []).map((cwd) => readdir(cwd).catch(() => [])))
  return cwds === undefined || names.flat().some((name) => name.startsWith('-'))
}

/** As a person would write it, so that quotes hide nothing from a rule. */
function shown({ known, glob, home }: Word, text: string): string {
  if (!known || glob || home || /^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

async function paths(kind: 'read' | 'write', word: Word, cwds: Cwds): Promise<Touch[]> {
  if (word.pipe || (word.known && /^\/dev\/(?:null|stdin|stdout|stderr|fd\/\d+)$/.test(word.text))) return []
  const text = word.home ? homedir() + word.text.slice(1) : word.text
  const from = text.startsWith('/') ? [''] : cwds?.map((cwd) => `${cwd}/`)
  // A path in /proc means something else for each process.
  if (!word.known || !from || /^\/(?:proc|dev\/(?:tcp|udp))\//.test(text)) return [unknown(`${kind} ${word.text}`)]
  const touches: Touch[] = []
  for (const start of from) {
    for (const path of (word.glob ? await expandGlob(start + text) : [start + text]) ?? ['']) {
      const real = path && (await realPathOf(path).catch(() => undefined))
      touches.push(real ? { kind, path: real } : unknown(`${kind} ${word.text}`))
    }
  }
  return touches
}

function unknown(what: string): Touch {
  return { kind: 'unknown', what: what.length > 200 ? `${what.slice(0, 200)}…` : what }
}
