import { expect, test } from 'vitest'
import { indexRecordings } from './recorded/run.ts'

test.each(['base', 'ethereum'] as const)(
  'a v2 archive gives %s the very rows that the recordings mean',
  async (chain) => {
    const { stored, expected, requests } = await indexRecordings(chain, 'gateway')
    expect(stored).toEqual({ ...expected, feedback: [], unpaid_authorization: [] })
    expect(requests.every(({ path }) => path.startsWith(`/network/${chain}-mainnet/`))).toBe(true)
  },
)
