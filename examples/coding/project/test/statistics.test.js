import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mean } from '../src/mean.js'
import { median } from '../src/median.js'

test('the mean of three numbers', () => assert.equal(mean([1, 2, 6]), 3))
test('the median of an odd count', () => assert.equal(median([3, 1, 2]), 2))
test('the median of an even count', () => assert.equal(median([4, 1, 2, 3]), 2.5))
test('the median compares numbers, not texts', () => assert.equal(median([10, 9, 100]), 10))
