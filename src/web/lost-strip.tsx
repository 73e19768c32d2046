/** Says below the bar that something does not work now, when it is tried again, and lets a person try it at once. */
import type { ReactNode } from 'react'
import { tryNow, useTrouble } from './server/tries.ts'
import { useNow } from './use-now.ts'

/** Nothing while everything works. */
export function LostStrip(): ReactNode {
  const trouble = useTrouble()
  return trouble && <Strip {...trouble} />
}

function Strip({ failure, nextTry }: NonNullable<ReturnType<typeof useTrouble>>): ReactNode {
  const now = useNow(250)
  const seconds = nextTry === undefined ? 0 : Math.ceil((nextTry - now) / 1000)
  return (
    <div className="lost">
      <span role="status">{failure.status === 0 ? 'Connection lost' : failure.message}</span>
      <span className="num">{seconds > 0 ? `trying again in ${seconds} s` : 'trying again …'}</span>
      <button onClick={tryNow} disabled={seconds <= 0}>
        Try now
      </button>
    </div>
  )
}
