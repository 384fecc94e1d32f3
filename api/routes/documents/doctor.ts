import { z } from 'zod'
import { profileLimits, uptimeLimits } from '../../../config/limits.ts'
import { agentDiagnosis } from '../../../db/queries/documents/doctor.ts'
import { type FindingCode, findingTable } from '../../../net/findings.ts'
import { invalidRequest } from '../../http/errors.ts'
import { askable, momentFilter } from '../../http/filter-parameters.ts'
import { fidParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { diagnosis, findingCatalogue, findingCodes, findingKind } from '../../schemas/documents/doctor.ts'

/** GET /api/agent/:fid/doctor */
export const doctor = route({
  path: '/api/agent/{fid}/doctor',
  operationId: 'diagnoseAgent',
  summary: 'Why nobody can reach an agent, or pay it.',
  params: z.object({ fid: fidParameter }),
  query: z.object({
    as_of: momentFilter(
      `ISO 8601 with a zone: what the looks by then had found, as far back as ${uptimeLimits.checkDays} days. What follows from ` +
        'registries and documents (`since` null) is left out. Without it, now.',
    ),
  }),
  answer: {
    type: json,
    schema: diagnosis,
    description:
      'What the last looks at its endpoints found: nobody is asked for this answer, and `npm run doctor` looks now. At ' +
      `most ${profileLimits.findings} findings, newest first if there are more.`,
  },
  errors: ['ERR_FID_INVALID', 'ERR_PAYLOAD_INVALID', 'ERR_NOT_FOUND'],
  tool: {
    name: 'diagnose_agent',
    use: 'Why nobody can reach or pay an agent: faults of its endpoints and of their 402 answers, by code.',
    untold: ['as_of'],
  },
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  async read({ fid, as_of }, { database }) {
    const moment = askable({ as_of })
    if (!moment) throw invalidRequest('as_of', 'must be an ISO 8601 time with a zone')
    const found = await agentDiagnosis(database, fid, moment.as_of)
    if (!found) return undefined
    const { checked_at, endpoints, truncated } = found
    const findings = found.findings.map(({ code, ...more }) => {
      return { code, severity: findingTable[code as FindingCode].severity, ...more }
    })
    findings.sort((a, b) => weight[a.severity] - weight[b.severity])
    return JSON.stringify({ fid, as_of: moment.as_of, checked_at, findings, endpoints, truncated })
  },
})

const weight = { blocks: 0, warns: 1, informs: 2 } as const

/** GET /api/doctor/codes */
export const doctorCodes = route({
  path: '/api/doctor/codes',
  operationId: 'listFindingCodes',
  summary: 'Every code of a finding: how severe it is, what it means, what to do.',
  answer: { type: json, schema: findingCatalogue, description: 'The closed list of codes.' },
  maxAgeSeconds: 300,
  freshSeconds: 300,
  async read(_input, { baseUrl }) {
    const codes = findingCodes.map((code) => rowOf(code, baseUrl))
    return JSON.stringify({ count: codes.length, codes })
  },
})

/** GET /api/doctor/codes/:code */
export const doctorCode = route({
  path: '/api/doctor/codes/{code}',
  operationId: 'getFindingCode',
  summary: 'One code of a finding: how severe it is, what it means, what to do.',
  params: z.object({ code: z.string().meta({ description: 'As it stands in `code`.', examples: ['pay_to_zero'] }) }),
  answer: { type: json, schema: findingKind, description: 'What the code means.' },
  errors: ['ERR_NOT_FOUND'],
  maxAgeSeconds: 300,
  freshSeconds: 300,
  missing: 'no such code',
  async read({ code }, { baseUrl }) {
    const known = findingCodes.find((one) => one === code)
    return known && JSON.stringify(rowOf(known, baseUrl))
  },
})

/** Path of the page about a code. */
export const findingPagePath = (code: FindingCode) => `/docs/doctor/${code}`

const rowOf = (code: FindingCode, baseUrl: string) => ({
  code,
  ...findingTable[code],
  url: baseUrl + findingPagePath(code),
})
