/**
 * The fields of elements in a real browser that tests read. The types of browsers are not loaded here, and without them
 * React's types declare an `Element` that has no fields.
 */
interface Element {
  readonly className: string
  readonly href: string
  readonly rel: string
  readonly textContent: string
  scrollTop: number
  readonly scrollHeight: number
}
