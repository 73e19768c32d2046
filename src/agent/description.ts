/** Tool descriptions: plain text, or structured and rendered to text. */

export interface ToolDescription {
  short: string
  long?: string
  usageNotes?: string[]
  examples?: Array<{ description: string; params: Record<string, unknown> }>
  important?: string[]
}

/** The one text a model reads. Empty when there is nothing to say, which `toTool` refuses. */
export function describe(description: string | ToolDescription): string {
  if (typeof description === 'string') return description.trim()
  const { short, long, usageNotes = [], examples = [], important = [] } = description
  const calls = examples.map((example) => `${example.description}: ${JSON.stringify(example.params)}`)
  return [short, long, bullets('Usage notes', usageNotes), bullets('Important', important), bullets('Examples', calls)]
    .filter(Boolean)
    .join('\n\n')
}

function bullets(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`
}
