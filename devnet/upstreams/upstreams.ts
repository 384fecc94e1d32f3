import { chains } from '../../config/chains.ts'
import type { Person } from '../world/people.ts'
import type { World } from '../world/plan.ts'
import { type Codehost, startCodehost } from './codehost.ts'
import { type Explorer, startExplorer } from './explorer.ts'
import { type IdentityService, startIdentityService } from './identity.ts'

/** What is known elsewhere about the people of a world. */
export interface Upstreams {
  readonly explorer: Explorer
  readonly identity: IdentityService
  readonly codehost: Codehost
  stop(): Promise<void>
}

export async function startUpstreams(world: World, startedAt: Date): Promise<Upstreams> {
  const [explorer, identity, codehost] = await Promise.all([startExplorer(), startIdentityService(), startCodehost()])
  for (const [index, person] of world.people.agents.entries()) {
    tag(explorer, person, index, startedAt)
    introduce(identity, person)
    host(codehost, person, startedAt)
  }
  return {
    explorer,
    identity,
    codehost,
    async stop() {
      await Promise.all([explorer, identity, codehost].map((server) => server.stop()))
    },
  }
}

/** Address of the account that attests the labels. */
const attester = '0xa725646c05e6bb813d98c5abb4e72df4bcf00b56'

/** Every agent but each fifth has a name somewhere; every third is labelled besides. */
function tag(explorer: Explorer, { verified, profile, fid }: Person, index: number, startedAt: Date) {
  const address = verified[0]?.wallet.address
  if (!address) return
  const handle = profile.username ?? `fid-${fid}`
  if (index % 5 !== 4) {
    const meta = JSON.stringify({ warpcastHandle: handle })
    const protocol = { slug: 'warpcast-account', name: 'Warpcast account', tagType: 'protocol', ordinal: 0, meta }
    explorer.addTag(address, null, protocol)
    const name = { slug: `agent-${handle}`, name: `Agent: ${handle}`, tagType: 'name', ordinal: 10, meta: '{}' }
    if (index % 2 === 0) explorer.addTag(address, chains.base.id, name)
  }
  if (index % 3 === 0) {
    const about = { chain_id: `eip155:${chains.base.id}`, time: startedAt.toISOString(), attester }
    explorer.addLabel(address, { ...about, tag_id: 'owner_project', tag_value: `${handle}-project` })
    explorer.addLabel(address, { ...about, tag_id: 'is_eoa', tag_value: true })
  }
}

function introduce({ profiles }: IdentityService, { fid, profile, verified }: Person) {
  const address = verified[0]?.wallet.address.toLowerCase()
  const { username, displayName = null, bio = null, pfp = null, github, twitter } = profile
  if (!username || !address) return
  const absent = { status: null, email: null, location: null, header: null, contenthash: null }
  const link = (url: string, handle: string, sources: string[]) => ({ link: url, handle, sources })
  const links = {
    ...(github && { github: link(`https://github.com/${github}`, github, []) }),
    ...(twitter && { twitter: link(`https://x.com/${twitter}`, twitter, ['farcaster']) }),
  }
  const shown = { address, displayName, avatar: pfp, description: bio, ...absent }
  profiles.set(`farcaster,#${fid}`, {
    ...shown,
    identity: username,
    platform: 'farcaster',
    links: { farcaster: link(`https://farcaster.xyz/${username}`, username, ['farcaster']), ...links },
    social: { uid: fid, follower: fid % 900, following: fid % 300 },
    aliases: [`farcaster,#${fid}`, `farcaster,${username}`],
  })
  const name = `${username.replace(/\.eth$/, '')}.eth`
  profiles.set(`ethereum,${address}`, {
    ...shown,
    identity: name,
    platform: 'ens',
    links,
    social: {},
    aliases: [`ens,${name}`, `ens,${address}`],
  })
}

function host({ accounts }: Codehost, { fid, profile, verified }: Person, startedAt: Date) {
  const login = profile.github
  if (!login) return
  const page = `https://github.com/${login}`
  accounts.set(login.toLowerCase(), {
    user: {
      login,
      id: 100_000 + fid,
      type: 'User',
      name: profile.displayName ?? null,
      html_url: page,
      avatar_url: profile.pfp ?? null,
      blog: profile.url ?? '',
      bio: fid % 2 === 0 ? `Payments to ${verified[0]?.wallet.address}` : null,
      followers: fid % 70,
      following: fid % 11,
      public_repos: 2,
      created_at: '2021-05-04T09:00:00Z',
    },
    repositories: ['agent', 'tools'].map((name, index) => ({
      name,
      owner: { login },
      fork: false,
      stargazers_count: (fid * (index + 3)) % 120,
      language: index === 0 ? 'TypeScript' : 'Rust',
      pushed_at: startedAt.toISOString(),
    })),
  })
}
