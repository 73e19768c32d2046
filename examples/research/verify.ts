/** Checks a report: every quotation must stand word for word at the line that it names. */
import type { Documents } from './documents.ts'

export interface Quotation {
  text: string
  file: string
  line: number
  found: boolean
}

/** A block quote of one or more lines, followed by `— file:LINE`. */
export async function verifyQuotations(report: string, documents: Documents): Promise<Quotation[]> {
  const quotations: Quotation[] = []
  let quoted: string[] = []
  for (const line of report.split('\n')) {
    const source = /^— (.+):(\d+)\s*$/.exec(line)
    if (line.startsWith('>')) quoted.push(line.replace(/^>\s?/, '').trim())
    else if (source && quoted.length > 0) {
      const place = { file: source[1] ?? '', line: Number(source[2]) }
      quotations.push({ text: quoted.join('\n'), ...place, found: await stands(quoted, place, documents) })
      quoted = []
    } else if (line.trim() !== '') quoted = []
  }
  return quotations
}

async function stands(
  quoted: string[],
  { file, line }: { file: string; line: number },
  documents: Documents,
): Promise<boolean> {
  try {
    const lines = await documents.lines(file)
    return quoted.every((text, i) => text !== '' && (lines[line - 1 + i] ?? '').includes(text))
  } catch {
    return false
  }
}
