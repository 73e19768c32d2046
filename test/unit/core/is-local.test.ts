import { expect, it } from 'vitest'
import { isLocal } from '../../../src/core/is-local.ts'

it.each(['127.0.0.1:7233', 'localhost:7233', '[::1]:7233', 'postgresql://me:secret@127.0.0.2:5432/stello'])(
  '%s is on this machine',
  (address) => expect(isLocal(address)).toBe(true),
)

it.each([
  'temporal:7233',
  '10.0.0.1:7233',
  'localhost.example.com:7233',
  '127.0.0.1.example.com:7233',
  'postgresql://127.0.0.1/stello?host=db.example.com',
  'postgresql://127.0.0.1/stello?hostaddr=10.0.0.1',
  '',
  'no address',
])('%j may be on another machine', (address) => expect(isLocal(address)).toBe(false))
