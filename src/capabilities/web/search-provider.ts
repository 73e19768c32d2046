/** The interface of a service that searches for WebSearch. */

/** A search. */
export interface SearchQuery {
  /** The words. */
  query: string
  /** Only results of these domains and those below them count. Others are left out afterwards. */
  allowedDomains?: readonly string[]
  /** Results of these domains and those below them are left out afterwards. */
  blockedDomains?: readonly string[]
}

/** One result of a search. */
export interface SearchResult {
  /** Its title. */
  title: string
  /** Its whole URL. */
  url: string
  /** What it says, in one or two sentences. */
  snippet: string
}

/**
 * A service that searches the web.
 *
 * @example
 * const ours: SearchProvider = {
 *   name: 'ours',
 *   search: async ({ query }, { signal }) => (await ourIndex.find(query, { signal })).map(({ title, link, text }) => ({
 *     title, url: link, snippet: text,
 *   })),
 * }
 */
export interface SearchProvider {
  /** Names it in errors. */
  readonly name: string
  /**
   * Finds results, the best first. If it throws, the next provider is asked; the model reads the errors if none answers.
   *
   * @param options `signal` fires after 15 s, and when the call ends
   */
  search(query: SearchQuery, options: { signal: AbortSignal }): Promise<readonly SearchResult[]>
}
