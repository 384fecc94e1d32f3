import { z } from 'zod'
import { queryLimits } from '../../../config/limits.ts'
import { agentProfiles } from '../../../db/queries/agents/profile.ts'
import { addressParameter, fidParameter, fieldsParameter, largestFid } from '../../http/parameters.ts'
import { installationOf, json, route } from '../../http/route.ts'
import { agentBatch, agentFieldsBatch, profile } from '../../schemas/agents/profile.ts'

/** Query parameter with a list separated by commas, duplicates removed. */
function listParameter(description: string) {
  return z
    .unknown()
    .optional()
    .transform((value) => {
      const text = [value].flat()[0]
      if (typeof text !== 'string') return []
      // Read whole, so that every value is answered or named in `ignored`: a URL and a tool's arguments are bounded.
      const parts = text.split(',').map((part) => part.trim())
      return [...new Set(parts.filter((part) => part !== ''))]
    })
    .meta({
      description: `${description} Separated by commas; at most ${queryLimits.batch} of both.`,
      override: { type: 'string' },
    })
}

/** GET /api/agents */
export const agents = route({
  path: '/api/agents',
  operationId: 'getAgents',
  summary: `The profiles of up to ${queryLimits.batch} agents, by fid and by verified address.`,
  query: z.object({
    fids: listParameter('FIDs.'),
    addresses: listParameter('Verified addresses.'),
    fields: fieldsParameter(Object.keys(profile.shape)),
  }),
  answer: {
    type: json,
    schema: z.union([agentBatch, agentFieldsBatch]),
    description: 'In the order asked, FIDs first, each agent once.',
  },
  tool: { name: 'get_agents', use: 'The whole profiles of several agents at once, by fid and by verified address.' },
  maxAgeSeconds: 30,
  freshSeconds: 5,
  async read({ fids, addresses, fields }, { database, chains, baseUrl, settlementOverloads }) {
    const readable = [
      ...fids.map((text) => ({ text, fid: fidOf(text) })),
      ...addresses.map((text) => ({ text, address: addressParameter.safeParse(text).data })),
    ].map((one) => ({ fid: undefined, address: undefined, ...one }))
    const taken = readable
      .filter(({ fid, address }) => fid !== undefined || address !== undefined)
      .slice(0, queryLimits.batch)
    const isTaken = new Set(taken)
    const ignored = readable.filter((one) => !isTaken.has(one)).map(({ text }) => text)
    const { count, agents, notFound } = await agentProfiles(database, {
      fids: [...new Set(taken.flatMap(({ fid }) => fid ?? []))],
      addresses: [...new Set(taken.flatMap(({ address }) => address ?? []))],
      fields,
      settlementOverloads,
      installation: installationOf({ chains, baseUrl }),
    })
    return `{"count":${count},"agents":${agents},"not_found":${notFound},"ignored":${JSON.stringify(ignored)}}`
  },
})

/** Reads a FID. Undefined: the text is another thing, or a number too large. */
function fidOf(text: string): number | undefined {
  const { data } = fidParameter.safeParse(text)
  return data === largestFid ? undefined : data
}
