/**
 * How many tokens the models of providers take, by their names. This is the only such list. A model may state its own
 * number (`Model.contextWindow`), and an agent may state another one (`compaction.window`). The window of a model that
 * is not listed is unknown: its session is compacted when the provider refuses a prompt.
 */

/**
 * How many tokens a prompt may have. Some providers allow fewer than the window that they advertise. The first entry
 * that fits counts. Names are compared in lower case and without what a router puts before them (`openai/`, `models/`).
 */
const WINDOWS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^gpt-(5\.[4-9]|[6-9])(?!.*(mini|nano|chat))/, 920_000],
  [/^gpt-5.*chat/, 128_000],
  [/^gpt-[5-9]/, 272_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^(gpt-4o|gpt-4-turbo|chatgpt-4o)/, 128_000],
  [/^gpt-4-32k/, 32_768],
  [/^gpt-4/, 8192],
  [/^gpt-3\.5/, 16_385],
  [/^gpt-oss/, 131_072],
  [/^(o1|o3|o4)/, 200_000],
  [/^claude/, 200_000],
  [/^gemini-1\.5-pro/, 2_000_000],
  [/^gemini/, 1_000_000],
  [/^deepseek/, 128_000],
  [/^(mistral|magistral|devstral|codestral|ministral|pixtral)/, 128_000],
  [/^(qwen|qwq)/, 128_000],
  [/^(llama-?3\.[1-9]|llama-?4|llama3\.[1-9])/, 128_000],
  [/^grok/, 128_000],
  [/^kimi/, 128_000],
  [/^glm/, 128_000],
]

/**
 * The window of a model in tokens; undefined if it is not listed.
 *
 * @example contextWindowOf('openai/gpt-4o-mini') // 128000
 */
export function contextWindowOf(name: string): number | undefined {
  const plain = name.toLowerCase().replace(/^.*\//, '')
  return WINDOWS.find(([pattern]) => pattern.test(plain))?.[1]
}
