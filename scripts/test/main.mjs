#!/usr/bin/env node
/** `npm test`: the quick projects, or of all tests those that the arguments name. */
import { chosen } from './choose.mjs'

process.argv.splice(2, Infinity, 'run', ...chosen(process.argv.slice(2)))
await import('../../node_modules/vitest/vitest.mjs')
