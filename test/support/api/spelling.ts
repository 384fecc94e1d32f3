import { expect } from 'vitest'

/** Expects JSON values, each with a newline behind it, that have no space outside of their strings. */
export function expectSpelled(body: string): void {
  expect(body.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')).toMatch(/^([{[]\S*\n)+$/)
}
