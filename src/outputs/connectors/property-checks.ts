// Property checks: templates and addresses in the properties of a connector, each error with the name of its member.
import type { EgressGuard } from '../egress/guard.ts';
import { problem } from '../../model/problem.ts';
import { parseTemplate, type TemplatePlace } from '../templates/template.ts';
import type { Endpoint } from './target-uri.ts';

export interface PropertyChecks {
  /** Throws `invalidRequest` for the member; without one, for the properties as a whole. */
  refuse(member: string | undefined, reason: string): never;
  /** Throws for a template that cannot be parsed or that uses an unknown path. */
  template(member: string, text: string, kind?: TemplatePlace): void;
  /** Throws for a URL that is invalid or that the egress guard forbids. */
  url(member: string, url: string): void;
  /** Throws for an endpoint that could not be read or that the egress guard forbids. */
  endpoint(member: string, endpoint: Endpoint | undefined): void;
}

export function createPropertyChecks(key: string, egress: EgressGuard): PropertyChecks {
  function refuse(member: string | undefined, reason: string): never {
    const name = [key, member].filter((part) => part !== undefined).join('.');
    throw problem('invalidRequest', { reason: `body ${name}: ${reason}` });
  }
  return {
    refuse,
    template(member, text, kind = 'text') {
      parseTemplate(text, kind, `body ${key}.${member}`);
    },
    url: (member, url) => egress.checkUrl(url, `${key}.${member}`),
    endpoint(member, endpoint) {
      if (endpoint === undefined) return refuse(member, 'is not a valid target address');
      egress.checkLiteral(endpoint.host);
    },
  };
}
