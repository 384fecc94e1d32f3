/** A name and addresses that the door takes for a public host's. */
export const publicHost = 'agent.shop.xyz'
export const publicV4 = '93.184.215.14'
export const publicV6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c'

/** Addresses of a name, by what kinds of them it has. */
export const addressesOf = {
  'A only': [publicV4],
  'AAAA only': [publicV6],
  both: [publicV6, publicV4],
  'many A': ['93.184.215.15', '93.184.215.16', '93.184.215.17'],
  'many AAAA': ['2606:2800:21f::1', '2606:2800:21f::2', '2606:2800:21f::3'],
  none: [],
} satisfies Record<string, readonly string[]>
