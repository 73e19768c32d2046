/** Builds the page into dist/web. No script may stand in the HTML: the server's policy refuses it. */
import react from '@vitejs/plugin-react'
import { fileURLToPath } from 'node:url'
import { defineConfig, type UserConfig } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))

const config: UserConfig = defineConfig({
  root: here,
  /** Relative addresses: the page also works below a path of another server. */
  base: './',
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('../../dist/web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  logLevel: 'warn',
})

export default config
