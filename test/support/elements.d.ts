/**
 * What tests read of elements in a real browser. The types of React, which the chat draws with, declare elements that have
 * nothing, where the types of browsers are not loaded.
 */
interface Element {
  readonly className: string
  readonly href: string
  readonly rel: string
  readonly textContent: string
  scrollTop: number
  readonly scrollHeight: number
}
