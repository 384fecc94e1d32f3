import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { storableText } from '../../db/text.ts'

describe('storable text', () => {
  test.each([
    ['NUL', 'a\u0000b', 'a\ufffdb'],
    ['control characters', '\u0007\u001b[31m\u007f\u0085', '\ufffd\ufffd[31m\ufffd\ufffd'],
    ['a lone high surrogate', 'a\ud83d', 'a\ufffd'],
    ['a lone low surrogate', '\ude00b', '\ufffdb'],
    ['surrogates in the wrong order', '\ude00\ud83d', '\ufffd\ufffd'],
  ])('shows where %s stood', (_, given, expected) => {
    expect(storableText(given)).toBe(expected)
  })

  test('loses what XML has no place for', () => expect(storableText('a\ufffeb\uffffc')).toBe('abc'))

  test('keeps tabs, line ends, quotes, markup and every script as they are', () => {
    const text = '\tline\r\n<b>"&amp;\'\u2028 مرحبا 你好 👩‍👩‍👧 e\u0301 \u{10ffff}'
    expect(storableText(text)).toBe(text)
  })

  test('is cut between code points, never inside one', () => {
    expect(storableText('👍👍👍', 2)).toBe('👍👍')
    expect(storableText('abc', 3)).toBe('abc')
    expect(storableText('abc', 0)).toBe('')
    expect(storableText('a\ufffeb\u0000c', 2)).toBe('ab')
  })

  test('is storable, stays as it is when cleaned again, and is never longer than asked for', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
    )
    fc.assert(
      fc.property(anything, fc.nat(20), (text, max) => {
        const clean = storableText(text, max)
        expect(Buffer.from(clean).toString()).toBe(clean)
        expect(clean).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/)
        expect([...clean].length).toBeLessThanOrEqual(max)
        expect(storableText(clean, max)).toBe(clean)
      }),
    )
  })
})
