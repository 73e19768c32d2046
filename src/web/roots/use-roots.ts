/**
 * The roots, live. They are polled: there is no stream of all trees, and a page that asks for what it shows costs the same with
 * ten trees and with ten thousand. It asks for the newest, and for those on the screen; nothing while nobody looks.
 */
import { useCallback, useEffect, useRef, useState } from 'react'
import type { ApiFailure } from '../server/api-failure.ts'
import { api, type RootsFilter } from '../server/api.ts'
import { keepAsking } from '../server/keep-asking.ts'
import type { Root } from '../server/wire.ts'
import { mergeRoots, type RootsPart } from './merge-roots.ts'

const PART = 100
const EVERY_MS = 2000

/** The list as it is known. */
export interface RootsList {
  /** Unset until the first answer. */
  roots?: readonly Root[]
  failure?: ApiFailure
  /** Says which rows are on the screen; loads more when the last of them is near the end. */
  shows(first: number, last: number): void
}

/** @param which the filter; another one begins a new list */
export function useRoots({ state, agent }: Pick<RootsFilter, 'state' | 'agent'>): RootsList {
  const [list, setList] = useState<{ roots?: Root[]; failure?: ApiFailure }>({})
  const shown = useRef({ first: 0, last: 0 })
  const rows = useRef<Root[]>([])
  const whole = useRef(false)
  const loading = useRef(false)
  const ask = useRef<(part: RootsPart) => Promise<void>>(async () => undefined)

  useEffect(() => {
    const stop = new AbortController()
    rows.current = []
    whole.current = false
    setList({})
    ask.current = async (part) => {
      const filter = { ...(state && { state }), ...(agent !== undefined && agent !== '' && { agent }) }
      const answer = await api.roots({ ...filter, ...part }, stop.signal)
      if (stop.signal.aborted) return
      const isLastPart = part.before === rows.current.at(-1)?.createdAt
      if (isLastPart && answer.length < part.limit) whole.current = true
      rows.current = mergeRoots(rows.current, answer, part)
      setList({ roots: rows.current })
    }
    void keepAsking(
      async () => {
        await ask.current({ limit: PART })
        const { first, last } = shown.current
        const before = rows.current[first - 1]?.createdAt
        if (last >= PART && before !== undefined) await ask.current({ before, limit: last - first + 1 })
      },
      { everyMs: EVERY_MS, over: stop.signal, failed: (failure) => setList((now) => ({ ...now, failure })) },
    )
    return () => stop.abort()
  }, [state, agent])

  const shows = useCallback((first: number, last: number) => {
    shown.current = { first, last }
    const end = rows.current.at(-1)
    if (!end || whole.current || loading.current || last < rows.current.length - PART / 4) return
    loading.current = true
    void ask
      .current({ before: end.createdAt, limit: PART })
      .catch(() => undefined)
      .finally(() => (loading.current = false))
  }, [])
  return { ...list, shows }
}
