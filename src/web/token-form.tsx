/** Asks for the token, when the server wants one that this tab does not have. */
import { useState, type ReactNode } from 'react'
import { keepToken } from './server/token.ts'

/** The form. The page begins anew with the token. */
export function TokenForm(): ReactNode {
  const [token, setToken] = useState('')
  return (
    <form
      className="empty token"
      onSubmit={(event) => {
        event.preventDefault()
        keepToken(token.trim())
        location.reload()
      }}
    >
      <p>This server wants a token. The one who started it has printed an address that holds it.</p>
      <input
        type="password"
        aria-label="Token"
        autoComplete="off"
        autoFocus
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <button className="primary" disabled={token.trim() === ''}>
        Open
      </button>
    </form>
  )
}
