import { expect, test } from 'vitest'
import { pagedBody, readCursor } from '../../../api/http/cursor.ts'
import { momentFilter, timeFilter } from '../../../api/http/filter-parameters.ts'
import { eighthName } from '../../support/chain/eighth.ts'

test('a cursor behind a row of any chain that can be named is read by who wrote it', () => {
  const list = { name: ['rows'], order: ['time', 'word', 'integer', 'integer'] } as const
  const place = ['1770116913000000', eighthName, '7', '0']
  const { body } = pagedBody(list, { rows: '[]', count: 0, next: place }, { fields: {}, url: 'https://a', query: {} })
  expect(readCursor(list, JSON.parse(body).next_cursor)).toEqual(place)
})

const bound = timeFilter('')
const moment = momentFilter('')
test.each([
  ['2026-02-03T11:08:33Z', '2026-02-03T11:08:33.000Z', '2026-02-03T11:08:33.000Z'],
  ['2026-02-03T11:08:33.000001Z', '2026-02-03T11:08:33.001Z', '2026-02-03T11:08:33.000Z'],
  ['2026-02-03T11:08:33.999999999Z', '2026-02-03T11:08:34.000Z', '2026-02-03T11:08:33.999Z'],
  ['2026-02-03T11:08:33.120000Z', '2026-02-03T11:08:33.120Z', '2026-02-03T11:08:33.120Z'],
  ['2026-02-03T11:08:33 01:00', '2026-02-03T10:08:33.000Z', '2026-02-03T10:08:33.000Z'],
  ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'],
  ['1969-12-31T23:59:59.9999Z', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'],
])('the time %s bounds rows at %s, and asks how things were at %s', (text, bounds, asks) => {
  expect([bound.parse(text), moment.parse(text)]).toEqual([bounds, asks])
})

test.each([
  '2026-02-03',
  '2026-02-30T00:00:00Z',
  '2026-02-03T11:08:33',
  '2026-02-03T11:08:33Z ',
  '9999-12-31T23:59:59.9999Z',
])('what is no time with a zone up to 9999 cannot be read: %s', (text) => {
  expect(bound.parse(text)).toEqual({ matches: 'nothing' })
})
