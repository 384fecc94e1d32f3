import { findingTable } from '../../net/findings.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'
import type { AskedBlock } from '../specs/findings/on-chain.ts'

const usage = `
npm run doctor -- <URL> [--json]

Looks at an endpoint now and says why nobody can reach or pay it: an agent card, an MCP server, an API description, an x402
manifest or a paid endpoint. Nothing is called, changed or paid there. Exits with 0 if nothing blocks, else with 1.

  --json  prints the findings as JSON: code, severity, meaning, what to do, detail; and the blocks that chains were asked at

Only public hosts are asked, by https; EGRESS_ALLOW makes exceptions. The chain of a demand is asked about the token and
who is paid, where RPC_<CHAIN> is set. Reads CHAINS_FILE, SERVICE_NAME, SITE_URL: see
.env.example. docs/endpoints.md names where the codes are listed.
`

await runCommand(
  { usage, options: { json: { type: 'boolean', default: false } }, maxPositionals: 1 },
  async ({ values, positionals: [text] }) => {
    const url = text === undefined ? null : URL.parse(text)
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
      throw new UsageError(`${text ?? 'nothing'} is no http(s) address of an endpoint (see --help)`)
    const { examineNow } = await import('./examination.ts')
    const { is, findings, blocks } = await examineNow(url, process.env)
    const rows = findings.map(({ code, detail }) => ({ code, ...findingTable[code], detail }))
    const blocked = rows.filter(({ severity }) => severity === 'blocks')
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ url: url.href, is, findings: rows, as_of: blocks }, null, 2)}\n`
        : told(is, rows, blocks),
    )
    if (blocked.length > 0) throw new Error(`${blocked.length} of ${rows.length} findings block callers or buyers`)
  },
)

interface Row {
  readonly code: string
  readonly severity: string
  readonly meaning: string
  readonly fix: string
  readonly detail: string | null
}

function told(is: string | null, rows: readonly Row[], blocks: readonly AskedBlock[]): string {
  const lines = rows.map(
    ({ code, severity, meaning, fix, detail }) =>
      `${severity.padEnd(7)} ${code}${detail === null ? '' : `: ${detail}`}\n        ${meaning}\n        ${fix}\n`,
  )
  const asked = blocks.map(({ chain, number, time }) => `Asked ${chain} at block ${number} of ${time}\n`)
  return `${is === null ? 'It could not be told what it is' : `It is: ${is}`}\n${lines.join('')}${rows.length === 0 ? 'Nothing is in the way\n' : ''}${asked.join('')}`
}
