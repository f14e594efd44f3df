// One random sequence of grants: who acts, what is asked for, what the reference expects of it.
import {
  everything,
  type Holding,
  holdingOf,
  isWithin,
  type OrganizationRole,
  organizationRoles,
  type PlaceName,
  placeNames,
  type Right,
  rightsOfRole,
  rightsInWorkspaces,
  rightsOf,
  common,
  type WorkspaceRole,
  workspaceRoles,
} from './grant-model.ts';
import {
  accepts,
  call,
  effective,
  type GrantParts,
  type Ground,
  type Headers,
  memberOf,
  newGround,
  sessionOf,
  tokenOf,
} from './grant-world.ts';

interface Person {
  readonly email: string;
  userId: string;
  state: 'none' | 'pending' | 'member';
  role: OrganizationRole;
  readonly inWorkspaces: Map<PlaceName, WorkspaceRole>;
  /** The living link, and what its maker held. */
  link: { readonly url: string; readonly ceiling: Holding } | undefined;
  headers: Headers | undefined;
}

interface Machine {
  readonly kind: 'api-keys' | 'oauth-clients';
  readonly id: string;
  readonly holding: Holding;
  headers: Headers;
  alive: boolean;
}

interface Caller {
  readonly name: string;
  readonly isUser: boolean;
  readonly headers: Headers;
  readonly holding: Holding;
}

export interface Tally {
  granted: number;
  refused: number;
}

interface Run {
  readonly ground: Ground;
  readonly people: Person[];
  readonly machines: Machine[];
  readonly deadLinks: string[];
  readonly wrong: string[];
  readonly tally: Tally;
  readonly below: (n: number) => number;
}

/** A generator of numbers that a seed repeats (mulberry32). */
function randomBelow(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

/** What went otherwise than the reference says; empty when nothing did. */
export async function runGrantSequence(
  parts: GrantParts,
  seed: number,
  steps: number,
  tally: Tally,
): Promise<string[]> {
  const ground = await newGround(parts);
  const newPerson = (email: string): Person => ({
    email,
    userId: '',
    state: 'none',
    role: 'MEMBER',
    inWorkspaces: new Map(),
    link: undefined,
    headers: undefined,
  });
  const owner: Person = {
    ...newPerson(`${ground.ownerId}@example.org`),
    userId: ground.ownerId,
    state: 'member',
    role: 'OWNER',
    headers: await sessionOf(ground, ground.ownerId),
  };
  const people = [
    owner,
    ...[1, 2, 3, 4].map((n) => newPerson(`${n}${ground.organizationId}@example.org`)),
  ];
  // An administrator of the organization and one of a workspace, so that every step has a caller.
  Object.assign(people[1]!, await memberOf(ground, people[1]!.email, 'ADMIN'));
  Object.assign(people[2]!, await memberOf(ground, people[2]!.email, 'MEMBER', 'w1'));
  people[2]!.inWorkspaces.set('w1', 'ADMIN');
  const run: Run = {
    ground,
    people,
    machines: [],
    deadLinks: [],
    wrong: [],
    tally,
    below: randomBelow(seed),
  };
  const weighted = [
    machineMade,
    machineMade,
    invited,
    invited,
    invited,
    joined,
    joined,
    joined,
    roleChanged,
    removed,
    rotated,
    deleted,
  ];
  for (let step = 0; step < steps && run.wrong.length === 0; step += 1)
    await weighted[run.below(weighted.length)]!(run);
  for (const caller of callersOf(run)) await compareHolding(run, caller);
  return run.wrong;
}

function pick<T>(run: Run, list: readonly T[]): T {
  return list[run.below(list.length)]!;
}

function callersOf({ people, machines }: Run): Caller[] {
  const users = people.flatMap((person): Caller[] =>
    person.headers === undefined || person.state !== 'member'
      ? []
      : [
          {
            name: person.email,
            isUser: true,
            headers: person.headers,
            holding: holdingOfPerson(person),
          },
        ],
  );
  const living = machines.filter(({ alive }) => alive);
  return [
    ...users,
    ...living.map(({ kind, headers, holding }) => ({
      name: kind,
      isUser: false,
      headers,
      holding,
    })),
  ];
}

function holdingOfPerson({ role, inWorkspaces }: Person): Holding {
  return holdingOf(role, inWorkspaces);
}

async function compareHolding(run: Run, { name, headers, holding }: Caller): Promise<void> {
  const actual = await effective(run.ground, headers);
  const more = [...(actual ?? [])].filter((right) => !holding.has(right));
  const less = [...holding].filter((right) => actual?.has(right) !== true);
  if (more.length + less.length > 0)
    run.wrong.push(`${name} holds also ${more.join()} and not ${less.join()}`);
}

/** Compares the verdict; true when the call was granted. */
function verdict(
  run: Run,
  what: string,
  expected: boolean,
  answer: { readonly done: boolean; readonly status: number },
): boolean {
  run.tally[answer.done ? 'granted' : 'refused'] += 1;
  if (answer.done !== expected)
    run.wrong.push(`${what}: ${answer.status}, expected it ${expected ? 'granted' : 'refused'}`);
  return answer.done;
}

const permissionsOf = (text: string) => {
  const all = rightsOf(text, ['w1']).map((right) => right.split(' '));
  return Object.fromEntries(
    all.map(([scope]) => [scope, all.filter(([of]) => of === scope).map(([, verb]) => verb)]),
  );
};

async function machineMade(run: Run): Promise<void> {
  const { ground } = run;
  const caller = pick(run, callersOf(run));
  const share = pick(run, [1, 3, 8, 100]);
  const text =
    pick(run, [everything, organizationRoles.ADMIN])
      .split(' ')
      .filter(() => run.below(100) < 100 / share)
      .join(' ') || 'asset:r';
  const places = pick<readonly PlaceName[]>(run, [[], [], ['w1'], ['w2'], ['w1', 'w2']]);
  const whole = `${text} organization:r`;
  const rights =
    places.length === 0
      ? rightsOf(whole, placeNames)
      : [...common, ...rightsInWorkspaces(whole, places)];
  const kind = pick(run, ['api-keys', 'oauth-clients'] as const);
  const body = {
    name: 'm',
    organizationId: ground.organizationId,
    allWorkspaces: places.length === 0,
    workspaces: places.map((place) => ({ id: ground.idOf[place] })),
    permissions: permissionsOf(text),
  };
  const asked = places.length === 0 ? rights : rightsOf(text, places);
  const may =
    caller.isUser &&
    caller.holding.has('organization manage organization') &&
    isWithin(asked, caller.holding);
  const answer = await call(ground, caller.headers, 'POST', `/v3/${kind}`, body);
  if (!verdict(run, `${caller.name} makes ${kind} ${text} at ${places}`, may, answer)) return;
  const { id, secret, clientId, clientSecret } = answer.body;
  const headers: Headers =
    kind === 'api-keys' ? { 'x-api-key': secret } : await tokenOf(ground, clientId, clientSecret);
  run.machines.push({ kind, id, headers, alive: true, holding: new Set<Right>(rights) });
  if (!isWithin((await effective(ground, headers)) ?? [], caller.holding))
    run.wrong.push(`${caller.name} made ${kind} that may do more`);
}

const roleRights = rightsOfRole;
const inviteRights = (place: PlaceName, role: WorkspaceRole) =>
  rightsOf(workspaceRoles[role], [place]);

/** Everything an open invitation of the person would give. */
function pendingRights({ role, inWorkspaces }: Person): Right[] {
  return [
    ...roleRights(role),
    ...[...inWorkspaces].flatMap(([place, held]) => inviteRights(place, held)),
  ];
}

function linked(run: Run, person: Person, caller: Caller, url: string | null): void {
  if (url === null) return;
  if (person.link !== undefined) run.deadLinks.push(person.link.url);
  person.link = { url, ceiling: caller.holding };
  if (!isWithin(pendingRights(person), caller.holding))
    run.wrong.push(`${caller.name} got a link to more than was held`);
}

async function invited(run: Run): Promise<void> {
  const { ground } = run;
  const caller = pick(run, callersOf(run));
  const person = pick(run, run.people.slice(1));
  const inOrganization = run.below(2) === 0;
  const isPending = person.state === 'pending';
  const covered = !isPending || isWithin(pendingRights(person), caller.holding);
  if (inOrganization) {
    const role = pick(run, Object.keys(organizationRoles) as OrganizationRole[]);
    const may =
      caller.holding.has('organization.member create organization') &&
      isWithin(roleRights(role), caller.holding);
    const answer = await call(
      ground,
      caller.headers,
      'POST',
      `/v3/organizations/${ground.organizationId}/members`,
      {
        email: person.email,
        role,
      },
    );
    if (
      !verdict(
        run,
        `${caller.name} invites ${role}`,
        may && covered && person.state !== 'member',
        answer,
      )
    )
      return;
    Object.assign(person, { state: 'pending', role, userId: answer.body.userId });
    return linked(run, person, caller, answer.body.invitationUrl);
  }
  const place = pick(run, ['w1', 'w2'] as const);
  const role = pick(run, Object.keys(workspaceRoles) as WorkspaceRole[]);
  const may =
    caller.holding.has(`workspace.member create ${place}`) &&
    isWithin(inviteRights(place, role), caller.holding);
  const answer = await call(
    ground,
    caller.headers,
    'POST',
    `/v3/workspaces/${ground.idOf[place]}/members`,
    {
      email: person.email,
      role,
    },
  );
  if (
    !verdict(
      run,
      `${caller.name} invites ${role} of ${place}`,
      may && covered && !person.inWorkspaces.has(place),
      answer,
    )
  )
    return;
  if (person.state === 'none')
    Object.assign(person, { state: 'pending', role: 'MEMBER', userId: answer.body.userId });
  person.inWorkspaces.set(place, role);
  linked(run, person, caller, answer.body.invitationUrl);
}

async function joined(run: Run): Promise<void> {
  const old = run.deadLinks.length > 0 && run.below(4) === 0 ? pick(run, run.deadLinks) : undefined;
  if (old !== undefined && (await accepts(run.ground, old)))
    run.wrong.push('a dead link let somebody in');
  const person = run.people.find(({ state, link }) => state === 'pending' && link !== undefined);
  if (person === undefined) return;
  const { url, ceiling } = person.link!;
  if (!(await accepts(run.ground, url))) return void run.wrong.push('a living link was refused');
  run.deadLinks.push(url);
  Object.assign(person, { state: 'member', link: undefined });
  person.headers = await sessionOf(run.ground, person.userId);
  if (
    !isWithin((await effective(run.ground, person.headers)) ?? [], new Set([...ceiling, ...common]))
  ) {
    run.wrong.push(`the link of ${person.email} gave more than its maker held`);
  }
}

const isLastOwner = ({ people }: Run, person: Person) =>
  person.state === 'member' &&
  person.role === 'OWNER' &&
  people.filter((one) => one.state === 'member' && one.role === 'OWNER').length < 2;

async function roleChanged(run: Run): Promise<void> {
  const { ground } = run;
  const caller = pick(run, callersOf(run));
  const known = run.people.filter(({ state }) => state !== 'none');
  const person = pick(run, known);
  const [place] = person.inWorkspaces.keys();
  if (place === undefined || run.below(2) === 0) {
    const role = pick(run, Object.keys(organizationRoles) as OrganizationRole[]);
    const both = [...roleRights(person.role), ...roleRights(role)];
    const all = person.state === 'pending' ? [...both, ...pendingRights(person)] : both;
    const may =
      caller.holding.has('organization.member update organization') &&
      isWithin(all, caller.holding);
    const expected = may && !(role !== 'OWNER' && isLastOwner(run, person));
    const answer = await call(
      ground,
      caller.headers,
      'PUT',
      `/v3/organizations/${ground.organizationId}/members/${person.userId}`,
      { role },
    );
    if (!verdict(run, `${caller.name} changes ${person.role} to ${role}`, expected, answer)) return;
    person.role = role;
    return linked(run, person, caller, answer.body.invitationUrl);
  }
  const role = pick(run, Object.keys(workspaceRoles) as WorkspaceRole[]);
  const both = [
    ...inviteRights(place, person.inWorkspaces.get(place)!),
    ...inviteRights(place, role),
  ];
  const all = person.state === 'pending' ? [...both, ...pendingRights(person)] : both;
  const may =
    caller.holding.has(`workspace.member update ${place}`) && isWithin(all, caller.holding);
  const answer = await call(
    ground,
    caller.headers,
    'PUT',
    `/v3/workspaces/${ground.idOf[place]}/members/${person.userId}`,
    { role },
  );
  if (!verdict(run, `${caller.name} changes the role in ${place} to ${role}`, may, answer)) return;
  person.inWorkspaces.set(place, role);
  linked(run, person, caller, answer.body.invitationUrl);
}

async function removed(run: Run): Promise<void> {
  const { ground } = run;
  const caller = pick(run, callersOf(run));
  const person = pick(run, run.people.slice(1));
  if (person.state === 'none') return;
  const [place] = person.inWorkspaces.keys();
  if (place !== undefined && run.below(2) === 0) {
    const rights = inviteRights(place, person.inWorkspaces.get(place)!);
    const may =
      caller.holding.has(`workspace.member delete ${place}`) && isWithin(rights, caller.holding);
    const answer = await call(
      ground,
      caller.headers,
      'DELETE',
      `/v3/workspaces/${ground.idOf[place]}/members/${person.userId}`,
    );
    if (verdict(run, `${caller.name} removes from ${place}`, may, answer))
      person.inWorkspaces.delete(place);
    return;
  }
  const may =
    caller.holding.has('organization.member delete organization') &&
    isWithin(roleRights(person.role), caller.holding);
  const answer = await call(
    ground,
    caller.headers,
    'DELETE',
    `/v3/organizations/${ground.organizationId}/members/${person.userId}`,
  );
  if (
    !verdict(run, `${caller.name} removes ${person.role}`, may && !isLastOwner(run, person), answer)
  )
    return;
  if (person.headers !== undefined && (await effective(ground, person.headers)) !== undefined)
    run.wrong.push('a removed member is still in');
  if (person.link !== undefined) run.deadLinks.push(person.link.url);
  person.inWorkspaces.clear();
  Object.assign(person, {
    state: 'none',
    role: 'MEMBER',
    link: undefined,
    headers: undefined,
    userId: '',
  });
}

async function rotated(run: Run): Promise<void> {
  const client = run.machines.find(({ kind, alive }) => kind === 'oauth-clients' && alive);
  if (client === undefined) return;
  const caller = pick(run, callersOf(run));
  const may =
    caller.isUser &&
    caller.holding.has('organization manage organization') &&
    isWithin(client.holding, caller.holding);
  const answer = await call(
    run.ground,
    caller.headers,
    'POST',
    `/v3/oauth-clients/${client.id}/rotate-secret`,
  );
  if (!verdict(run, `${caller.name} rotates`, may, answer)) return;
  client.headers = await tokenOf(run.ground, answer.body.clientId, answer.body.clientSecret);
}

async function deleted(run: Run): Promise<void> {
  const machine = pick(run, run.machines);
  if (machine === undefined) return;
  const caller = pick(run, callersOf(run));
  const may =
    machine.alive && caller.isUser && caller.holding.has('organization manage organization');
  const answer = await call(
    run.ground,
    caller.headers,
    'DELETE',
    `/v3/${machine.kind}/${machine.id}`,
  );
  if (!verdict(run, `${caller.name} deletes ${machine.kind}`, may, answer)) return;
  machine.alive = false;
  if ((await effective(run.ground, machine.headers)) !== undefined)
    run.wrong.push('a deleted credential is still in');
}
