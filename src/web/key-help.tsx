/** The keys of the page, shown by `?`. */
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { go } from './route.ts'
import { useKeys } from './use-keys.ts'

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['j', 'k'], 'next and previous session'],
  [['Enter'], 'open it'],
  [['g'], 'all sessions'],
  [['i'], 'inbox'],
  [['n'], 'new session'],
  [['/'], 'search'],
  [['?'], 'these keys'],
  [['Ctrl', 'Enter'], 'send'],
]

/** Hears the keys that work in every view. */
export function KeyHelp(): ReactNode {
  const [shown, setShown] = useState(false)
  const dialog = useRef<HTMLDialogElement>(null)
  useKeys({
    g: () => go({ at: 'roots' }),
    i: () => go({ at: 'inbox' }),
    n: () => go({ at: 'new' }),
    '/': () => document.querySelector<HTMLInputElement>('[data-key="/"]')?.focus(),
    '?': () => setShown(true),
  })
  useEffect(() => {
    if (shown) dialog.current?.showModal()
  }, [shown])
  if (!shown) return null
  return (
    <dialog ref={dialog} className="card keys" aria-label="Keys" onClose={() => setShown(false)}>
      <dl>
        {KEYS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  )
}
