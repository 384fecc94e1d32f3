create or replace view directory.specs as
select fid, kind, url, title, version, skills, tools, path_count, domain_verified,
       '0x' || encode(content_sha256, 'hex') as content_sha256, first_seen_at, last_alive_at, last_check_at,
       last_check_status, http_status, latency_ms, consecutive_failures, declared, card_signature,
       protocol_version, tool_hashes, tools_changed_at, back_reference, details - 'truncated' as details,
       resources, truncated || coalesce(details -> 'truncated', '{}') as truncated,
       last_check_status = 'ok' as readable, answers, answers_since, answers_ms as answers_latency_ms
  from public.agent_spec;

comment on view directory.specs is e'@primaryKey fid,kind,url\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName specs\n@name spec\nMachine-readable descriptions on agents’ own hosts, with their liveness.';
comment on column directory.specs.fid is 'The agent’s id in the social network.';
comment on column directory.specs.kind is 'a2a, mcp, openapi or x402; web: a page that a registration names.';
comment on column directory.specs.url is 'Where it lies.';
comment on column directory.specs.title is 'Its title.';
comment on column directory.specs.version is 'The version it gives itself.';
comment on column directory.specs.skills is 'Skills it names.';
comment on column directory.specs.tools is 'Tools it names.';
comment on column directory.specs.path_count is 'Paths it describes; null: the kind has none.';
comment on column directory.specs.domain_verified is 'Whether the host lists a registration of the agent as its own.';
comment on column directory.specs.content_sha256 is 'SHA-256 of what was read last; null: nothing yet.';
comment on column directory.specs.first_seen_at is 'When it was looked at first.';
comment on column directory.specs.last_alive_at is 'When it last answered; null: never.';
comment on column directory.specs.last_check_at is 'When it was last looked at.';
comment on column directory.specs.last_check_status is 'What that came to: ok, auth_required, payment_required, not_found, timeout and others.';
comment on column directory.specs.http_status is 'Status of the last answer; null: there was none.';
comment on column directory.specs.latency_ms is 'Milliseconds to the last answer.';
comment on column directory.specs.consecutive_failures is 'Looks without an answer since the last one.';
comment on column directory.specs.declared is 'Whether a registration of the agent names it; else it was found where such descriptions usually lie.';
comment on column directory.specs.card_signature is 'Of an A2A card: valid, invalid, untrusted or none; null: another kind.';
comment on column directory.specs.protocol_version is 'Of an MCP server that was asked: the revision of the protocol it speaks; null: it was not asked.';
comment on column directory.specs.tool_hashes is 'SHA-256 of the definition of each of `tools`, in their order; empty: the server was not asked.';
comment on column directory.specs.tools_changed_at is 'When the definition of a tool was last seen changed while its name stayed; null: never.';
comment on column directory.specs.back_reference is 'confirmed: its host lists a registration of the agent; missing: it lists none; contradicted: it, or the registration file that names it, lists others only; null: not known yet.';
comment on column directory.specs.details is 'What else it says: interfaces {url, name, binding, version}, skills {name, id, tags}, security {name, type}, and the catalog that led to it. Empty lists are left out.';
comment on column directory.specs.resources is 'What it says of what it sells, beside prices: objects {resource, service_name, tags, icon_url, route_template, input, output, schema, left_out}, 20 at most. Nobody checked it.';
comment on column directory.specs.truncated is 'Lists of which not all is kept, with how many entries each has at least.';
comment on column directory.specs.readable is 'Whether it was read, or found unchanged, when it was last looked at.';
comment on column directory.specs.answers is 'How what it describes answered a request that gives it no work to do: ok, payment_required and auth_required show somebody there; else as last_check_status, or not_asked: it names no place that can be asked. Null: nobody has asked yet.';
comment on column directory.specs.answers_since is 'Since when it has answered so.';
comment on column directory.specs.answers_latency_ms is 'Milliseconds to that answer; null: there was none.';
