/** Starts the page. */
import { createRoot } from 'react-dom/client'
// First: what views state about their own parts comes behind it.
import './style.css'
import './frame.css'
import { App } from './app.tsx'
import { applyTheme, keptTheme } from './theme.ts'
import { takeToken } from './server/token.ts'

takeToken(location, sessionStorage, history)
applyTheme(keptTheme())
createRoot(document.getElementById('root')!).render(<App />)
