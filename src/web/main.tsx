/** Starts the page. */
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './style.css'
import './frame.css'
import { applyTheme, keptTheme } from './theme.ts'
import { takeToken } from './token.ts'

takeToken(location, sessionStorage, history)
applyTheme(keptTheme())
createRoot(document.getElementById('root')!).render(<App />)
