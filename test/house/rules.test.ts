import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { checkOrder } from '../../api/claim/examination.ts'
import { type ErrorCode, errorTable } from '../../api/http/errors.ts'
import { expressPath } from '../../api/http/route.ts'
import { meteredPrefixes } from '../../api/limits/limiter.ts'
import { routes } from '../../api/routes.ts'
import { errorFields } from '../../api/schemas/error.ts'
import { claimLimits, webhookLimits } from '../../config/limits.claims.ts'
import { graphqlLimits, mcpLimits, subgraphLimits } from '../../config/limits.protocols.ts'
import {
  cardLimits,
  documentLimits,
  exportLimits,
  grouped,
  pictureLimits,
  profileLimits,
  queryLimits,
  requestLimits,
  rowLimits,
  streamLimits,
} from '../../config/limits.ts'
import { places, readSources, root } from '../support/source-files.ts'

const rules = readFileSync(join(root, 'docs/rules.md'), 'utf8')

test('the tables of docs/rules.md are what the code says; `npx vitest run test/house/rules.test.ts -u` writes them again', async () => {
  const tables: Record<string, string[]> = {
    '| limit | value |': limitRows(),
    '| answer | `max-age` |': ageRows(),
    '| code | status | when | further fields |': errorRows(),
  }
  const text = Object.entries(tables).reduce((page, [head, rows]) => withTable(page, head, rows), rules)
  await expect(text).toMatchFileSnapshot('../../docs/rules.md')
})

test('sentences that repeat a limit or the order of checks say what the code says', () => {
  const { bodyBytes, nonceCharacters, manifestAddresses } = claimLimits
  const bulk = grouped(documentLimits.bulkAgents)
  const page = rules.replaceAll(/\s+/g, ' ')
  for (const sentence of [
    `counts up to ${queryLimits.characters} characters`,
    `at most ${bodyBytes / 1024} KiB`,
    `A nonce is ${nonceCharacters.least} to ${nonceCharacters.most} letters and digits`,
    `1 to ${manifestAddresses} addresses`,
    `Order of checks: ${checkOrder.join(', ')}.`,
    `the ${documentLimits.feedEntries} agents listed last`,
    `cut at ${documentLimits.bioCharacters} code points`,
    `more than ${grouped(profileLimits.feedbackCountedAtOnce)} feedbacks`,
    `beyond ${bulk} the ${bulk} that were claimed first`,
  ]) {
    expect(page).toContain(sentence)
  }
  const endpoints = readFileSync(join(root, 'docs/endpoints.md'), 'utf8')
  expect(endpoints).toContain(`the ${documentLimits.feedEntries} newest agents as Atom 1.0`)
  expect(endpoints).toContain(`up to ${queryLimits.batch} profiles at once`)
})

/** Files that state or enforce limits for API clients. */
const told = /^(api\/(routes|schemas|docs|claim|feed|limits|mcp)\/|db\/queries\/)/
/** Numbers in texts that are no limits: of standards, dates, durations and hex. */
const otherNumbers =
  /(EIP|ERC|RFC|ISO|Atom|OpenAPI|secp|UTF-|uint|base|with) ?-?[0-9.]+|20[0-9]{2}-[0-9]{2}|[0-9]+ days|0x/

test('a limit that a consumer can meet is written in config/limits*.ts alone', async () => {
  const files = (await readSources()).filter(({ path }) => told.test(path))
  const wrong = files.flatMap((file) => places(file, (node) => isBound(node) || saysNumber(file.path, node)))
  expect(wrong).toEqual([])
})

/** Whether a node is a literal bound above 1: `.max(100)`, `maximum: 100`. */
function isBound(node: ts.Node): boolean {
  if (!ts.isNumericLiteral(node) || Number(node.text) <= 1) return false
  const { parent } = node
  if (ts.isPropertyAssignment(parent)) return /^(minimum|maximum|fallback|limit)$/.test(parent.name.getText())
  if (!ts.isCallExpression(parent) || !ts.isPropertyAccessExpression(parent.expression)) return false
  return /^(min|max)$/.test(parent.expression.name.text) && parent.expression.expression.getText() !== 'Math'
}

/** Whether a node is a text for clients that states a number, or SQL with a literal limit. */
function saysNumber(path: string, node: ts.Node): boolean {
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
  if (!isText) return false
  if (path.startsWith('db/')) return /\blimit [0-9]{2,}/.test(node.text)
  return /\b(most|up to|to|the|in|than|of) [0-9][0-9,]*\b/.test(node.text.replace(otherNumbers, ''))
}

function limitRows(): string[] {
  const { attempts, attemptSeconds, acceptedPerDay, nameLooks, nonceCharacters } = claimLimits
  const minutes = attemptSeconds / 60
  const kib = (bytes: number) => `${bytes / 1024} KiB`
  const prefixes = meteredPrefixes.map((prefix) => `\`${prefix}\``).join(', ')
  const limits = Object.values(rowLimits).map(
    ({ minimum, maximum, fallback }) => `${minimum} to ${maximum} (${fallback})`,
  )
  const rows: [string, string][] = [
    [
      `requests under ${prefixes}, a client`,
      `${requestLimits.perMinute} a minute, ${grouped(requestLimits.perDay)} a UTC day, whatever the answer`,
    ],
    ['pages, feeds of agents, sitemaps, a client', `${requestLimits.pagesPerMinute} a minute`],
    ['pictures of agents on pages, a client', `${grouped(requestLimits.picturesPerMinute)} a minute`],
    ['a picture of an agent', `${pictureLimits.bytes / 1024} KiB; PNG, JPEG, WebP or GIF`],
    ['cards for link previews at once, a client; a process', `${cardLimits.ofClient}; ${cardLimits.ofProcess}`],
    ['files under `/exports` at once, a client; a process', `${exportLimits.ofClient}; ${exportLimits.ofProcess}`],
    ['attempts to claim that pass the cheap checks, a client', `${attempts.client} in ${minutes} minutes`],
    [
      'user names that `/explain` and `/claim` ask the network for, a client; all clients',
      [nameLooks.client, nameLooks.all]
        .map(({ attempts, seconds }) => `${attempts} in ${seconds / 60} minutes`)
        .join('; '),
    ],
    [
      'manifests fetched',
      `${attempts['client and host']} in ${minutes} minutes a client and host, ${attempts.host} a host`,
    ],
    ['accepted claims of a FID', `${acceptedPerDay} a day`],
    ['of each host without a link, where none is needed', `${acceptedPerDay} a day`],
    ['webhooks', `${webhookLimits.ofFid} a FID, each for all agents or up to ${webhookLimits.fids}`],
    [
      'attempts to send to a webhook',
      `the newest ${grouped(webhookLimits.deliveriesKept)} of ${webhookLimits.deliveryDays} days are kept`,
    ],
    [
      'answer of a webhook',
      `within ${webhookLimits.answerSeconds} seconds; to a challenge or a ping ${webhookLimits.challengeSeconds}`,
    ],
    [
      'messages to webhooks on request',
      `${webhookLimits.challenges.attempts} challenges in ${webhookLimits.challenges.seconds / 60} minutes a FID; ` +
        `${webhookLimits.uses.attempts} pings, replays and rotations in ${webhookLimits.uses.seconds} seconds a webhook`,
    ],
    [
      'signed time',
      `${claimLimits.signedTimeSeconds / 60} minutes before or after, inclusive; \`CLAIM_WINDOW_SECONDS\` may say less`,
    ],
    [
      'streams at once',
      `${streamLimits.ofClient} of a client, ${streamLimits.ofProcess} of a process; each ends after ` +
        `${streamLimits.lastSeconds.least / 60} to ${streamLimits.lastSeconds.most / 60} minutes, or when its client ` +
        `leaves ${kib(streamLimits.unsentBytes)} for ${streamLimits.drainSeconds} s`,
    ],
    ['body of a claim', kib(claimLimits.bodyBytes)],
    ['nonce', `${nonceCharacters.least} to ${nonceCharacters.most} letters and digits`],
    ['signature of an eip191 claim', kib(claimLimits.signatureBytes)],
    [
      'manifest',
      `${kib(claimLimits.manifestBytes)}, ${claimLimits.manifestAddresses} addresses, served within ` +
        `${claimLimits.manifestSeconds} seconds`,
    ],
    [`\`limit\` of ${Object.keys(rowLimits).join(', ')}`, limits.join(', ')],
    ['`page`', `1 to ${grouped(queryLimits.lastPage)} (1)`],
    ['`q`, `cursor`', `${queryLimits.characters}, ${queryLimits.cursorCharacters} characters`],
    ['names of a filter', `${queryLimits.names} of ${queryLimits.nameCharacters} characters`],
    ['agents of one `/api/agents`', `${queryLimits.batch}`],
    [
      'a profile',
      `${profileLimits.registrations} current and ${profileLimits.registrations} past registrations, ` +
        `${profileLimits.edges} edges, URIs up to ${grouped(profileLimits.uriBytes)} bytes`,
    ],
    ['URIs of a page of registrations', `${profileLimits.pageUriBytes / 1024 / 1024} MiB`],
    ['feedback that a page with a filter looks at', grouped(profileLimits.feedbackLookedAt)],
    ['registrations of an address without an agent', grouped(profileLimits.registrationsOfAddress)],
    ['verifications of an explanation', `${profileLimits.verifications}`],
    [
      'bulk file, feed, page of the feed in pages, log of changes',
      `${grouped(documentLimits.bulkAgents)} agents, ${documentLimits.feedEntries} agents, ` +
        `${documentLimits.feedPageEntries} agents, ` +
        `${grouped(documentLimits.changeLines)} lines; superseded ones go after ` +
        `${documentLimits.changeDays} days`,
    ],
    [
      'log of profiles',
      `${grouped(rowLimits.log.maximum)} lines; it ends soon after ${documentLimits.logBytes / 1024 / 1024} MiB`,
    ],
    [
      'MCP',
      `${kib(mcpLimits.requestBytes)} asked, ${kib(mcpLimits.answerBytes)} answered by a tool, rows 1 to ` +
        `${mcpLimits.rows.maximum} (${mcpLimits.rows.fallback}) where the list has a limit`,
    ],
    [
      'GraphQL',
      `${grouped(graphqlLimits.requestBytes)} bytes, ${grouped(graphqlLimits.tokens)} lexical tokens, pages of ` +
        `${graphqlLimits.pageSize}, ${grouped(graphqlLimits.offset)} rows skipped, cost ${grouped(graphqlLimits.cost)}, ` +
        `depth ${graphqlLimits.depth}, ${graphqlLimits.timeouts.execution / 1_000} seconds, of them ` +
        `${graphqlLimits.statementMs / 1_000} for one list`,
    ],
    [
      '`/subgraph`',
      `${kib(subgraphLimits.requestBytes)}, ${grouped(subgraphLimits.tokens)} lexical tokens, ${subgraphLimits.cost} fields, ` +
        `depth ${subgraphLimits.depth}, pages of ${grouped(subgraphLimits.pageSize)}, ${grouped(subgraphLimits.skip)} rows skipped; ` +
        `${subgraphLimits.lists} lists, ${grouped(subgraphLimits.rows)} rows, ${grouped(subgraphLimits.values)} values and ` +
        `${kib(subgraphLimits.bytes)} in all; ${subgraphLimits.definitions} operations and fragments; filters of ` +
        `${grouped(subgraphLimits.filterValues)} values, ${subgraphLimits.filterParts} parts and depth ${subgraphLimits.filterDepth}`,
    ],
  ]
  return rows.map(([limit, value]) => `| ${limit} | ${value} |`)
}

/** Cell of an error's fields in docs/rules.md, by code, where the bare names do not suffice. */
const explained: Record<string, string> = {
  ERR_PAYLOAD_INVALID: '`fields` [{path, problem}]',
  ERR_NONCE_USED: '`fid`, `method`, `nonce`; of the same proof also `replay`, `original`',
  ERR_RATE_LIMIT: '`limits` {perMinute, perDay}, `retryAfterSeconds`',
  ERR_RATE_LIMIT_DAILY: '`limits` {perMinute, perDay}, `retryAfterSeconds`',
  ERR_RATE_LIMITED: '`limits` {attempts, windowSeconds}, `retryAfterSeconds`',
}

function errorRows(): string[] {
  return Object.entries(errorTable).map(([code, { status, when }]) => {
    const fields = errorFields(code as ErrorCode).map((field) => `\`${field}\``)
    return `| \`${code}\` | ${status} | ${when} | ${explained[code] ?? fields.join(', ')} |`.replace('|  |', '| |')
  })
}

function ageRows(): string[] {
  const ages = [...new Set(routes.map(({ maxAgeSeconds }) => maxAgeSeconds))].sort((one, other) => one - other)
  return ages.map((age) => {
    const paths = routes.filter(({ maxAgeSeconds }) => maxAgeSeconds === age).map((one) => `\`${expressPath(one)}\``)
    return `| ${paths.join(', ')} | ${age} s |`
  })
}

/** A Markdown page with the rows of one table replaced; `head`: the table's header row. */
function withTable(page: string, head: string, rows: readonly string[]): string {
  const rule = `${head}\n|${'---|'.repeat(head.split('|').length - 2)}\n`
  const [before, after] = page.split(rule)
  if (before === undefined || after === undefined) throw new Error(`docs/rules.md has no table ${head}`)
  const behind = after.slice(after.search(/^(?!\|)/m))
  return `${before}${rule}${rows.map((row) => `${row}\n`).join('')}${behind}`
}
