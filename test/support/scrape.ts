/** Reads Prometheus metrics as a scraper does. */

/** Each sample by its name and sorted labels, e.g. `stello_pauses_total{agent="a",reason="user"}`. */
export async function scrape(port: number): Promise<Record<string, number>> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => [sample(line), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}

function sample(line: string): string {
  const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? []
  const sorted = (labels.match(/\w+="(?:[^"\\]|\\.)*"/g) ?? []).toSorted()
  return sorted.length > 0 ? `${name}{${sorted.join()}}` : name
}
