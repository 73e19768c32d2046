/** Dark, light, or what the system says. The choice is kept in this browser. */
export type Theme = 'system' | 'light' | 'dark'

const KEPT = 'stello-theme'
const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }

/** The colours that a person has chosen last. */
export function keptTheme(): Theme {
  const kept = localStorage.getItem(KEPT)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** Shows the page so. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

/** Takes the next one, and keeps it. */
export function turnTheme(theme: Theme): Theme {
  const next = NEXT[theme]
  localStorage.setItem(KEPT, next)
  applyTheme(next)
  return next
}
