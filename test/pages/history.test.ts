import { expect, test } from 'vitest'
import { historyOf } from '../../api/pages/agent/events.ts'
import type { Profile } from '../../api/pages/parts/exact-json.ts'

test('the history tells the status each event led to', () => {
  const token = { chain: 'base', erc8004_id: '3', deployed_at: '2026-01-02T00:00:00.000Z' }
  const agent = {
    claimed_at: '2026-01-01T00:00:00.000Z',
    erc8004_records: [
      {
        chain: 'celo',
        erc8004_id: '0',
        acquired_at: '2026-01-05T00:00:00.000Z',
        deployed_at: '2026-01-04T00:00:00.000Z',
      },
    ],
    historical_registrations: [
      {
        ...token,
        acquired_at: token.deployed_at,
        released_at: '2026-01-03T00:00:00.000Z',
        reason: 'transfer',
        to_fid: 9,
      },
    ],
    agent_specs: {
      documents: [
        {
          kind: 'mcp',
          url: 'https://a.example/mcp',
          first_seen_at: '2026-01-06T00:00:00.000Z',
          tools_changed_at: null,
        },
      ],
    },
  } as unknown as Profile
  expect(historyOf(agent).map(({ text, status }) => [text, status])).toEqual([
    ['Serves MCP at a.example', null],
    ['Received #0 on Celo', 'active'],
    ['Passed on #3 on Base to FID 9', 'historical'],
    ['Registered #3 on Base', 'active'],
    ['Claimed by its owner', 'claimed-only'],
  ])
})
