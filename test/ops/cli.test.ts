import { expect, test } from 'vitest'
import { describeError } from '../../ops/cli.ts'

test('what an operator can mend is one line', () => {
  expect(describeError(new Error('DATABASE_URL is wrong'))).toBe('DATABASE_URL is wrong')
  expect(describeError('text')).toBe('text')
})

test('a host that refuses on each of its addresses is named with each of them', () => {
  const refused = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`))
  const error = new AggregateError(refused)
  expect(describeError(error)).toBe('connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432')
})

test('an error without words is at least named', () => {
  expect(describeError(new Error())).toBe('Error')
})

test('a fault of the program comes with its stack', () => {
  const fault = new TypeError('undefined is not a function')
  expect(describeError(fault)).toBe(fault.stack)
})
