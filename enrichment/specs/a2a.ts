import type { SpecContent } from '../../db/queries/sources/agent-specs.ts'
import { shortText } from './content.ts'
import { contentOf, interfacesIn, isRegistrationFile, listedIn, securityIn } from './listing.ts'
import { fieldsOf, membersOf } from './offers/spellings.ts'

/**
 * Reads an agent card: a name, skills, and somewhere to send requests, whatever its keys are called (offers/spellings.ts);
 * undefined: not one. Source: A2A specification 4.4.1 (1.0, where `supportedInterfaces` says where) and 5.5 (0.3).
 */
export function toA2aCard(value: unknown): SpecContent | undefined {
  const inside = membersOf(value)
    .all('cardWrapper')
    .find((one) => typeof one === 'object')
  return cardIn(value) ?? (inside === undefined ? undefined : cardIn(inside))
}

function cardIn(value: unknown): SpecContent | undefined {
  const members = membersOf(value)
  const title = shortText(fieldsOf(value).name ?? members.get('shown'))
  const capabilities = members.get('capabilities')
  const lists = [members.get('skills'), capabilities, membersOf(capabilities).get('skills')]
  const marked = members.get('cardMarks') === undefined ? undefined : []
  const skills = lists.find(Array.isArray) ?? members.get('skills') ?? membersOf(capabilities).get('skills') ?? marked
  if (title === null || typeof skills !== 'object' || isRegistrationFile(value)) return undefined
  const version = shortText(members.get('protocolVersion'))
  const binding = shortText(fieldsOf(value).preferredTransport ?? fieldsOf(value).preferred_transport)
  const interfaces = [
    ...interfacesIn(members.get('place'), { binding, version }),
    ...members.all('interfaces').flatMap((one) => interfacesIn(one, { version })),
  ]
  if (interfaces.length === 0) return undefined
  return contentOf({
    title,
    version: shortText(fieldsOf(value).version),
    skills: listedIn(skills, 'skills'),
    interfaces: [...new Map(interfaces.map((one) => [`${one.url} ${one.binding}`, one])).values()],
    security: securityIn(members.get('security')),
  })
}
