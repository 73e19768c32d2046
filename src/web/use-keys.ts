/** Keys of a view. They do nothing while somebody types, so that a letter stays a letter. */
import { useLayoutEffect, useRef } from 'react'

/** What a key does, by the key's name. */
export type Keys = Readonly<Record<string, () => void>>

/** Listens while the component is shown. @example useKeys({ n: () => go({ at: 'new' }) }) */
export function useKeys(keys: Keys): void {
  const now = useRef(keys)
  now.current = keys
  // Not after the view is painted: a key counts as soon as the view is seen.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const act = Object.hasOwn(now.current, event.key) ? now.current[event.key] : undefined
      if (!act) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.closest('input, textarea, select, dialog') !== null
}
