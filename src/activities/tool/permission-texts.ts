/** Texts about permissions for people and models. */
import { preview } from '../../core/message.ts'
import { ruleName, type Asking, type Verdict } from '../../permissions/decide.ts'
import type { PermissionMode } from '../../protocol/permission-mode.ts'
import type { Touch } from '../../tool/touch.ts'

type Touched = Pick<Asking, 'touches' | 'root'>

const SHOWN = 10
const LONGEST = 200
/** Characters of all lines for the person who permits a call. They are stored with the question. */
const PERMITTED = 32_000

/** A few lines about the parts that a call would touch: for logs, and for the question itself. */
export function shownTouches({ touches = [], root }: Touched): string[] {
  const lines = touches.slice(0, SHOWN).map((touch) => shownTouch(touch, root, LONGEST))
  return withRest(lines, touches.length)
}

/** All parts that a call would touch, each whole: the parts behind the tenth are permitted too. */
export function touchesToPermit({ touches = [], root }: Touched): string[] {
  let left = PERMITTED
  const whole = touches.map((touch) => shownTouch(touch, root, PERMITTED / 2))
  return withRest(
    whole.filter(({ length }) => (left -= length) >= 0),
    whole.length,
  )
}

function withRest(lines: string[], of: number): string[] {
  return of > lines.length ? [...lines, `and ${of - lines.length} more`] : lines
}

export function questionText(asking: Asking, { rule, parts }: Verdict): string {
  const about = shownTouches({ ...asking, touches: parts.flatMap(({ touch }) => touch ?? []) })
  const would = about.length > 0 ? ` It would ${about.join('; ')}.` : ''
  return `may "${asking.tool}" run?${would}${rule === undefined ? '' : ` The rule ${rule} asks.`}`
}

/** The text for the model. */
export function denialText({ tool, root }: Asking, { rule: text, from, parts }: Verdict, mode: PermissionMode): string {
  const touch = parts[0]?.touch
  const rule = text && ruleName(text, from)
  const what = touch ? `"${tool}" (${shownTouch(touch, root, LONGEST)})` : `"${tool}"`
  if (rule !== undefined && mode !== 'dontAsk') return `${what} is denied by the rule ${rule}`
  switch (mode) {
    case 'plan':
      return `${what} is denied: in plan mode only what changes nothing may run`
    case 'dontAsk':
      return rule === undefined
        ? `${what} is denied: it needs a permission, and no person is asked here`
        : `${what} is denied: the rule ${rule} decides, and no person is asked here`
    case 'default':
    case 'acceptEdits':
    case 'bypassPermissions':
      return `${what} is denied`
  }
}

function shownTouch(touch: Touch, root: string | undefined, longest: number): string {
  switch (touch.kind) {
    case 'read':
    case 'write':
      return `${touch.kind} ${preview(fromRoot(touch.path, touch.root ?? root), longest)}`
    case 'command':
      return `run ${preview(touch.command, longest)}`
    case 'url':
      return `ask ${preview(touch.url, longest)}`
    case 'server':
      return `ask the MCP server ${touch.server}`
    case 'unknown':
      return `do something unknown: ${preview(touch.what, longest)}`
  }
}

/** The model and people know paths from the root. */
function fromRoot(path: string, root: string | undefined): string {
  const folder = root?.replace(/\/+$/, '')
  return folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
}
