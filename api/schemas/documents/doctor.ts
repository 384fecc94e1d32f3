import { z } from 'zod'
import { documentKinds } from '../../../db/queries/sources/agent-specs.ts'
import { type FindingCode, findingTable } from '../../../net/findings.ts'
import { chainName, checkStatus, count, fid, time } from '../scalars.ts'

export const findingCodes = Object.keys(findingTable) as [FindingCode, ...FindingCode[]]

const code = z.enum(findingCodes).meta({ id: 'FindingCode', description: 'What it is: /api/doctor/codes tells.' })
const severity = z.enum(['blocks', 'warns', 'informs']).meta({
  description:
    'blocks: a caller or a buyer cannot go on; warns: some cannot, or will not; informs: nothing is wrong with it.',
})

const found = z
  .strictObject({
    code,
    severity,
    endpoint: z.string().nullable().meta({ description: 'Null: it is about the agent as a whole.' }),
    detail: z.string().nullable().meta({ description: 'What was seen, as it was written there.' }),
    since: time.nullable().meta({ description: 'When it was first found without a break. Null: not kept.' }),
  })
  .meta({ id: 'Finding' })

const endpoint = z
  .strictObject({
    kind: z.enum(documentKinds),
    url: z.string(),
    declared: z
      .boolean()
      .meta({ description: 'A registration names it; else it lies where such documents usually do.' }),
    checked_at: time,
    status: checkStatus,
    http_status: z.int().nullable(),
    as_of: z
      .array(z.strictObject({ chain: chainName, block_number: count, block_timestamp: time }))
      .meta({ description: 'Blocks that chains were asked at about its demand for payment. Empty: none was asked.' }),
  })
  .meta({ id: 'ExaminedEndpoint' })

/** GET /api/agent/:fid/doctor */
export const diagnosis = z
  .strictObject({
    fid,
    as_of: time.nullable().meta({ description: 'The time that was asked for. Null: now.' }),
    checked_at: time
      .nullable()
      .meta({ description: 'When its hosts were last looked at. Null: not yet, or not kept.' }),
    findings: z.array(found).meta({ description: 'What blocks first; of an endpoint together.' }),
    endpoints: z.array(endpoint).meta({ description: 'All that were looked at, those without a finding too.' }),
    truncated: z.boolean().meta({ description: 'Whether there are more findings.' }),
  })
  .meta({ id: 'Diagnosis' })

/** GET /api/doctor/codes/:code */
export const findingKind = z
  .strictObject({
    code,
    severity,
    meaning: z.string(),
    fix: z.string().meta({ description: 'What the one who runs the endpoint does about it.' }),
    found: z.string().meta({ description: 'How it is found.' }),
    url: z.url().meta({ description: 'Its page.' }),
  })
  .meta({ id: 'FindingKind' })

/** GET /api/doctor/codes */
export const findingCatalogue = z.strictObject({ count, codes: z.array(findingKind) }).meta({ id: 'FindingCatalogue' })
