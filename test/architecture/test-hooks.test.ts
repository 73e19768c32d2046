/**
 * Files of a project share their modules. So a hook that a module registers when it is imported runs for the first file
 * only, and what the others start goes on for the rest of the run.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const tests = fileURLToPath(new URL('..', import.meta.url))
/** Each file of this project is a process of its own. */
const ISOLATED = /^dev\//
const HOOK = /^(beforeAll|beforeEach|afterEach|afterAll|onTestFinished)\(/m
/** What Vitest runs for each file. */
const OF_FILES = /\.test\.tsx?$|\/after-file\.ts$/

it('no module of the tests registers a hook when it is imported', () => {
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const modules = files.filter((file) => !OF_FILES.test(file) && !ISOLATED.test(file))
  expect(modules.length).toBeGreaterThan(50)
  expect(modules.filter((file) => HOOK.test(readFileSync(join(tests, file), 'utf8')))).toEqual([])
})
