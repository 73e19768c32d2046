/** The card of one call, as people see it: WAIT → DOING → SUCCESS or ERROR. What the model reads is another channel. */

export const ToolStatus: {
  /** The arguments are still streaming in. */
  readonly WAIT: 'WAIT'
  readonly DOING: 'DOING'
  readonly SUCCESS: 'SUCCESS'
  readonly ERROR: 'ERROR'
} = { WAIT: 'WAIT', DOING: 'DOING', SUCCESS: 'SUCCESS', ERROR: 'ERROR' }

/** Where a call stands. */
export type ToolStatus = (typeof ToolStatus)[keyof typeof ToolStatus]

/** What a card shows beside its status. */
export interface ToolStatusOptions {
  /** One line for people. */
  showTip?: string
  /** The call's arguments, as people may see them. */
  params?: Record<string, unknown>
  /** The result of the call, as people may see it. */
  result?: unknown
}

/** The card of one call, as people see it. */
export interface ToolCard extends ToolStatusOptions {
  /** Where the call stands. */
  status: ToolStatus
}

const ORDER: readonly ToolStatus[] = ['WAIT', 'DOING', 'SUCCESS', 'ERROR']

/**
 * The card after a status was sent. `params` are merged, `result` and `showTip` are replaced, and fields that are left
 * out stay. The status of a card never goes back. After its end, a new card begins.
 *
 * @example mergeCard({ status: 'WAIT', params: { a: 1 } }, 'DOING', { params: { b: 2 } }) // DOING, { a: 1, b: 2 }
 */
export function mergeCard(card: ToolCard | undefined, status: ToolStatus, options: ToolStatusOptions = {}): ToolCard {
  const before = card && hasEnded(card) ? undefined : card
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return {
    ...before,
    ...given,
    ...(options.params && before?.params && { params: { ...before.params, ...options.params } }),
    status: before && ORDER.indexOf(status) < ORDER.indexOf(before.status) ? before.status : status,
  }
}

export function hasEnded({ status }: ToolCard): boolean {
  return status === 'SUCCESS' || status === 'ERROR'
}
