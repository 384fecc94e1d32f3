import fc from 'fast-check'
import Parser from 'rss-parser'
import { expect, test } from 'vitest'
import { toEntry } from '../../../api/feed/agent-entry.ts'
import { atomFeed } from '../../../api/feed/atom.ts'
import type { FeedAgent } from '../../../db/queries/agents/newest-agents.ts'
import { child, entriesOf, textOf } from '../../support/api/feed-xml.ts'
import { rounds } from '../../support/rounds.ts'

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        ...['<script>alert(1)</script>', ']]>', '<![CDATA[', '&amp;', '&#0;', '&', '<', '"', "'"],
        ...['\u0000', '\u0008', '\u000b', '\u001b[2J', '\ud800', '\udfff', '\ufffe', '\uffff', '\u202e', '\u2066'],
        ...['javascript:alert(1)', '</entry>', '--', '<!--', '<?xml ?>', '\r\n', '\t', ' ', '😀', 'ä', 'x'.repeat(300)],
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join('')),
)
const agent = fc.record({
  fid: fc.integer({ min: 1 }),
  handle: fc.option(hostile),
  bio: fc.option(hostile),
  oli: fc.option(hostile),
  chains: fc.subarray(['ethereum', 'base', 'gnosis'] as const).map((chains) => [...chains]),
  claimed: fc.boolean(),
  claim_method: fc.option(fc.constantFrom('eip191', 'jfs', 'well-known')),
  agent_status: fc.constantFrom('active', 'historical', 'claimed-only'),
  listed_at: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
  changed_at: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
}) as fc.Arbitrary<FeedAgent>
const site = 'https://agents.example'
const options = { title: 'newest', feedUrl: 'https://api.agents.example/feed.atom', siteUrl: site }

test('whatever the profiles say, the document is well-formed, shows texts as they are, and its HTML has no markup but ours', async () => {
  const parser = new Parser()
  await fc.assert(
    fc.asyncProperty(fc.array(agent, { minLength: 1, maxLength: 3 }), async (agents) => {
      const entries = agents.map((given) => toEntry(given, site))
      const xml = atomFeed(entries, options)
      expect(xml).not.toMatch(notXml)
      const { entries: found } = entriesOf(xml)
      expect(found).toHaveLength(agents.length)
      for (const [index, entry] of found.entries()) {
        const given = entries[index]
        expect(textOf(child(entry, 'title'))).toBe(given?.title)
        expect(textOf(child(entry, 'summary'))).toBe(given?.summary)
        const content = textOf(child(entry, 'content')) ?? ''
        expect(content.match(/<[^>]*>/g)?.filter((tag) => !ours.test(tag))).toEqual([])
      }
      await parser.parseString(xml)
    }),
    { numRuns: rounds(200, 1_000) },
  )
})

/** Anything outside the Char production of XML 1.0, lone surrogates included, and the direction overrides. */
const notXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u202a-\u202e\u2066-\u2069]/u
const ours = /^<(p|\/p|\/a|a href="https:\/\/agents\.example\/agent\/\d+")>$/
