/** Draws a recorded terminal (asciicast v2) as an SVG that plays by itself. It must give the same text for the same cast. */
import { createRequire } from 'node:module'

const { Terminal } = createRequire(import.meta.url)('@xterm/headless')

const CELL = { width: 8, height: 17 }
const MARGIN = 12
/** Two pictures of the screen are at least this far apart. */
const FRAME_S = 0.2
/** How long the last one stays before the film begins again. */
const END_S = 5
const BACKGROUND = '#16181d'
const FOREGROUND = '#d8dce4'
const DIM = '#8a919e'
const PALETTE = [
  ['#16181d', '#f07178', '#8ecf7a', '#e5c07b', '#7aa2f7', '#c792ea', '#6fc7d1', '#d8dce4'],
  ['#8a919e', '#ff8b92', '#a9e394', '#f2d08f', '#96b6ff', '#d9a9f7', '#8fdce4', '#ffffff'],
].flat()
const LEVELS = [0, 95, 135, 175, 215, 255]

/** @param {string} cast the text of a `.cast` file */
export async function renderCast(cast) {
  const [header, ...events] = cast
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { width: columns, height: lines, title } = header
  const frames = await framesOf(columns, lines, events)
  const rows = new Map()
  const pictures = frames.map(({ screen }, at) => {
    const uses = screen.flatMap((row, y) => {
      if (row === '') return []
      if (!rows.has(row)) rows.set(row, `r${rows.size}`)
      return [`<use href="#${rows.get(row)}" y="${y * CELL.height}"/>`]
    })
    return `<g transform="translate(${at * columns * CELL.width})">${uses.join('')}</g>`
  })
  const seconds = frames.at(-1).at + END_S
  const shift = (at) => `transform:translateX(${-at * columns * CELL.width}px)`
  const keys = frames.map(({ at }, index) => `${((at / seconds) * 100).toFixed(2)}%{${shift(index)}}`)
  const [inner, outer] = [
    { width: columns * CELL.width, height: lines * CELL.height },
    { width: columns * CELL.width + 2 * MARGIN, height: lines * CELL.height + 2 * MARGIN },
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${outer.width} ${outer.height}" width="${outer.width}" height="${outer.height}" role="img">
<title>${escaped(title)}</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:${FOREGROUND};white-space:pre}
.b{font-weight:bold}
.film{animation:film ${seconds.toFixed(2)}s step-end infinite}
@keyframes film{${keys.join('')}100%{${shift(frames.length - 1)}}}
@media (prefers-reduced-motion:reduce){.film{animation:none;${shift(frames.length - 1)}}}
</style>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<defs>
${[...rows].map(([row, id]) => `<g id="${id}">${row}</g>`).join('\n')}
</defs>
<svg x="${MARGIN}" y="${MARGIN}" width="${inner.width}" height="${inner.height}"><g class="film">
${pictures.join('\n')}
</g></svg>
</svg>
`
}

/** The different screens, each with its time in seconds. */
async function framesOf(columns, lines, events) {
  const view = new Terminal({ cols: columns, rows: lines, allowProposedApi: true })
  const frames = []
  for (const [index, [at, , data]] of events.entries()) {
    await new Promise((resolve) => view.write(data, resolve))
    const next = events[index + 1]
    const last = frames.at(-1)
    if (next && last && next[0] - last.at < FRAME_S) continue
    const screen = Array.from({ length: lines }, (_, y) => rowOf(view.buffer.active, y, columns))
    if (JSON.stringify(screen) !== JSON.stringify(last?.screen)) frames.push({ at: last ? at : 0, screen })
  }
  view.dispose()
  return frames
}

/** One line of the screen: a `<text>` for each run of cells that look the same. */
function rowOf(buffer, y, columns) {
  const line = buffer.getLine(buffer.baseY + y)
  const runs = []
  for (let x = 0; x < columns; x++) {
    const cell = line.getCell(x)
    if (cell.getWidth() === 0) continue
    const look = lookOf(cell)
    const last = runs.at(-1)
    const chars = cell.getChars() || ' '
    if (last && JSON.stringify(last.look) === JSON.stringify(look)) {
      last.text += chars
      last.cells += cell.getWidth()
    } else runs.push({ x, look, text: chars, cells: cell.getWidth() })
  }
  return runs.map(drawn).join('')
}

function drawn({ x, look: { fill, back, bold }, text, cells }) {
  const box = back
    ? `<rect x="${x * CELL.width}" width="${cells * CELL.width}" height="${CELL.height}" fill="${back}"/>`
    : ''
  const seen = text.trimEnd()
  if (seen === '') return box
  // Its own width, whatever font the reader has.
  const wide = (cells - (text.length - seen.length)) * CELL.width
  return `${box}<text x="${x * CELL.width}" y="13" textLength="${wide}"${bold ? ' class="b"' : ''}${fill === FOREGROUND ? '' : ` style="fill:${fill}"`}>${escaped(seen)}</text>`
}

function lookOf(cell) {
  const fore = colour(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()) ?? (cell.isDim() ? DIM : FOREGROUND)
  const back = colour(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor())
  const bold = cell.isBold() !== 0
  return cell.isInverse() ? { fill: back ?? BACKGROUND, back: fore, bold } : { fill: fore, back, bold }
}

function colour(isDefault, isRgb, value) {
  if (isDefault) return undefined
  if (isRgb) return `#${value.toString(16).padStart(6, '0')}`
  if (value < 16) return PALETTE[value]
  if (value >= 232) return hex(Array(3).fill(8 + (value - 232) * 10))
  const cube = value - 16
  return hex([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => LEVELS[level]))
}

function hex(parts) {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
