// Routes of the second factor of users, and of the demand of an organization for it.
import { Passkeys } from '../../access/passkeys.ts';
import { SecondFactors } from '../../access/second-factor.ts';
import { secondFactor, secondFactorDemand } from '../../contract/sign-in.ts';
import { MemberFactors } from '../../inventory/members/members.ts';
import { problem } from '../../model/problem.ts';
import { resourceRoute, route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';
import type { SignIn } from './sign-in.ts';

export function secondFactorRoutes(own: SignIn): Route[] {
  const { records, now, codeAttempts } = own;
  const factors = new SecondFactors(records, now);
  const ownPasskeys = new Passkeys(records, now, own.publicUrl);
  return [
    route(secondFactor.read, async (_input, principal) => {
      const seen = await factors.read(principal);
      const passkeys = await ownPasskeys.list(principal);
      return { ...seen, passkeys, available: seen.available && own.localSignIn };
    }),
    route(secondFactor.beginApp, async ({ body, ip }, principal) => {
      const user = await own.ownerOf(ip, principal, body.password);
      return factors.beginApp(user);
    }),
    route(secondFactor.confirmApp, async (input, principal) => {
      const { ip, body } = input;
      const work = () => factors.confirmApp(principal, body.code);
      const account = principal.id;
      const recoveryCodes = await codeAttempts.run(
        { ip, account },
        work,
        (codes) => codes === undefined,
      );
      if (recoveryCodes === undefined) throw problem('wrongCode');
      await own.audit(input, principal, 'UPDATE', { field: 'authenticatorApp', after: true });
      return { recoveryCodes };
    }),
    route(secondFactor.removeApp, async (input, principal) => {
      const { ip, body } = input;
      const user = await own.ownerOf(ip, principal, body.password);
      await factors.removeApp(user);
      await own.audit(input, principal, 'UPDATE', { field: 'authenticatorApp', before: true });
    }),
    route(secondFactor.renewRecoveryCodes, async (input, principal) => {
      const { ip, body } = input;
      const user = await own.ownerOf(ip, principal, body.password);
      const recoveryCodes = await factors.renewRecoveryCodes(user);
      await own.audit(input, principal, 'UPDATE', { field: 'recoveryCodes', secret: true });
      return { recoveryCodes };
    }),
  ];
}

// Routes of the second factor that an organization demands, and of its reset for a member.

export function secondFactorDemandRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new MemberFactors(records);
  const byOrganizationId = common.byId('organization');
  const { read, change, reset } = secondFactorDemand;
  return [
    resourceRoute(read, byOrganizationId, ({ params }) => service.readDemand(params.id)),
    resourceRoute(change, byOrganizationId, ({ params, body }, principal) =>
      service.changeDemand(principal, params.id, body.secondFactorRequired),
    ),
    resourceRoute(reset, byOrganizationId, ({ params: { id, userId } }, principal) =>
      service.reset(principal, id, userId),
    ),
  ];
}
