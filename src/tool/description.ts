/** Tool descriptions: plain text, or structured and rendered to text. */

export interface StructuredDescription {
  /** One sentence: what the tool does. */
  short: string
  /** More about it. */
  long?: string
  /** When and how to use it, a line each. */
  usageNotes?: string[]
  /** Calls that show how to use it. */
  examples?: Array<{ description: string; params: Record<string, unknown> }>
  /** Things that the model must not overlook, a line each. */
  important?: string[]
}

/** With the tool's name for people. `category` groups tools. */
export interface NamedDescription {
  /** The tool's name for people. */
  displayName?: string
  /** What the tool does and when to use it. */
  description: string
  /** No effect: nothing shows groups of tools. */
  category?: string
}

/** A description that is more than text. */
export type ToolDescription = StructuredDescription | NamedDescription

/** A description as an author may write it. */
export type DescriptionLike = string | ToolDescription

/** The one text a model reads. Empty when there is nothing to say, which `toTool` refuses. */
export function describe(description: DescriptionLike): string {
  if (typeof description === 'string') return description.trim()
  if ('description' in description) return description.description.trim()
  const { short, long, usageNotes = [], examples = [], important = [] } = description
  const calls = examples.map((example) => `${example.description}: ${JSON.stringify(example.params)}`)
  return [short, long, bullets('Usage notes', usageNotes), bullets('Important', important), bullets('Examples', calls)]
    .filter(Boolean)
    .join('\n\n')
}

export function isDescription(value: unknown): value is DescriptionLike {
  const { short, description } = Object(value) as Partial<Record<string, unknown>>
  const text = typeof value === 'string' ? value : (short ?? description)
  return typeof text === 'string' && text.trim() !== ''
}

function bullets(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`
}
