// Connector type: the properties, the checks and the sender of one kind of output, as one row of the table.
import Type, { type TObject, type TProperties } from 'typebox';
import type { Json, JsonObject } from '../../model/json.ts';
import type { OutputConnector, OutputScope } from '../../model/connector.ts';
import type { ConnectorServices } from './connector-services.ts';
import type { PropertyReader } from './properties.ts';
import type { Target } from './target.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { problem } from '../../model/problem.ts';
import { parseTemplate, type TemplatePlace } from '../templates/template.ts';
import type { Endpoint } from './target-uri.ts';

/** What a target needs to know of its connector, apart from the properties. */
export interface TargetOptions {
  /** Whether rules evaluate the samples that the target writes. */
  readonly invokeRuleEngine: boolean;
  /** Whether the payload of a message comes from the connector's template. */
  readonly hasCustomPayload: boolean;
}

/** The parts of a record that its type checks as a whole. */
export type ConnectorRecord = Pick<
  OutputConnector,
  'scope' | 'properties' | 'useCustomPayload' | 'customPayload'
>;

type Member<S> = keyof S & string;
type SecretPath<S> = Member<S> | `${Member<S>}.${string}`;
type Sent<S> = { readonly [M in Member<S>]?: Json };

/** References to other records of the workspace. */
interface NamedIds<P> {
  /** Each id with its path in the property object. */
  readonly named: (properties: P) => readonly { readonly member: string; readonly id: string }[];
  readonly renamed: (properties: P, rename: (id: string) => string) => P;
}

interface CommonRules {
  /**
   * The name of the type in the enumeration of the original vendor, or null. Clients of the vendor
   * reject a list that contains a name they do not know, so they do not receive connectors whose
   * type has none (contract 34, 36).
   */
  readonly vendorName: string | null;
}

/** What a folder under `connectors` states about its type. */
interface ConnectorDefinition<
  K extends string,
  S extends TProperties,
  P extends { readonly [M in Member<S>]: Json },
> extends CommonRules {
  /** The member of a record and of a request that contains the properties. */
  readonly propertiesKey: K;
  /** A second name of that member, which old clients use (contract 34). */
  readonly propertiesAlias?: string;
  /** Schemas of the members as clients send them; the interface reference shows them. */
  readonly properties: S;
  /**
   * Members that are masked in answers: strings, or maps of strings. `a.b` is member b of the
   * object a.
   */
  readonly secrets: readonly SecretPath<S>[];
  /** Maps of strings in which the name or the form of an entry decides whether it is masked. */
  readonly secretsByName?: readonly Member<S>[];
  /** Members that are needed because of others, in addition to those that the schema requires. */
  readonly alsoNeeded?: (sent: Sent<S>) => readonly Member<S>[];
  /** The scope of a connector that is created without one; `DATA_FLOW` if absent. */
  readonly defaultScope?: OutputScope;
  /** `sendConsecutiveAlerts` of a connector that is created without it; false if absent. */
  readonly defaultSendConsecutiveAlerts?: boolean;
  /** The output connectors of the workspace that the properties name. */
  readonly connectorIds?: NamedIds<P>;
  /** The on-call orders of the workspace that the properties name. */
  readonly onCallIds?: NamedIds<P>;
  /** The setting of the operator without which the type is not available. */
  readonly missingSetting?: (services: ConnectorServices) => string | undefined;
  /** Whether a custom payload must be able to become JSON. */
  readonly needsJsonPayload?: boolean;
  /**
   * Members that contain a service device id, or a list of them. The devices must be in the
   * workspace of the connector.
   */
  readonly deviceIds?: readonly Member<S>[];
  /** Whether the target uses these devices; always if absent. */
  readonly usesDevices?: (properties: P) => boolean;
  /** Returns the properties as they are stored, defaults filled in. Throws `invalidRequest`. */
  readonly parse: (sent: PropertyReader<Member<S>>) => P;
  /**
   * Throws a Problem for properties that cannot work here: invalid templates, forbidden targets.
   */
  readonly check: (properties: P, checks: PropertyChecks, services: ConnectorServices) => void;
  /**
   * Throws a Problem for a connector that cannot work as a whole; `stored` is what an update
   * replaces.
   */
  readonly checkRecord?: (record: ConnectorRecord, stored: ConnectorRecord | undefined) => void;
  /** Returns a target without connecting to it. */
  readonly open: (properties: P, services: ConnectorServices, options: TargetOptions) => Target;
}

/** The rules for the properties of a type. */
export interface PropertyRules<K extends string = string> {
  readonly key: K;
  readonly alias: string | undefined;
  readonly schema: TObject;
  readonly secrets: readonly string[];
  readonly secretsByName: readonly string[];
  /** The members that these properties cannot do without, in the order of the schema. */
  readonly needed: (sent: JsonObject) => readonly string[];
  readonly parse: (sent: PropertyReader) => JsonObject;
  readonly deviceIds: readonly string[];
  readonly usesDevices: (properties: JsonObject) => boolean;
  readonly connectorIds: NamedIds<JsonObject>;
  readonly namesConnectors: boolean;
  readonly onCallIds: NamedIds<JsonObject>;
  readonly namesOnCalls: boolean;
}

/** A row of the table. */
export interface ConnectorType<K extends string = string> extends CommonRules {
  /** Null for a type whose only connector exists from the start. */
  readonly properties: PropertyRules<K> | null;
  readonly defaultScope: OutputScope;
  readonly defaultSendConsecutiveAlerts: boolean;
  readonly needsJsonPayload: boolean;
  readonly missingSetting: (services: ConnectorServices) => string | undefined;
  readonly check: (properties: JsonObject, services: ConnectorServices) => void;
  readonly checkRecord: (record: ConnectorRecord, stored: ConnectorRecord | undefined) => void;
  readonly open: (
    properties: JsonObject,
    services: ConnectorServices,
    options: TargetOptions,
  ) => Target;
}

/** Makes the row of a type. Stored properties went through its `parse`, so they have its shape. */
export function connectorType<
  const K extends string,
  S extends TProperties,
  P extends { readonly [M in Member<S>]: Json },
>(definition: ConnectorDefinition<K, S, P>): ConnectorType<K> {
  const { propertiesKey, check, open } = definition;
  const stored = (properties: JsonObject) => properties as P;
  return {
    vendorName: definition.vendorName,
    properties: propertyRules(definition),
    defaultScope: definition.defaultScope ?? 'DATA_FLOW',
    defaultSendConsecutiveAlerts: definition.defaultSendConsecutiveAlerts ?? false,
    needsJsonPayload: definition.needsJsonPayload ?? false,
    missingSetting: (services) => definition.missingSetting?.(services),
    check: (properties, services) =>
      check(stored(properties), new PropertyChecks(propertiesKey, services.egress), services),
    checkRecord: (record, before) => definition.checkRecord?.(record, before),
    open: (properties, services, options) => open(stored(properties), services, options),
  };
}

function propertyRules<
  K extends string,
  S extends TProperties,
  P extends { readonly [M in Member<S>]: Json },
>(definition: ConnectorDefinition<K, S, P>): PropertyRules<K> {
  const schema = Type.Object(definition.properties);
  const { required = [] } = schema as { readonly required?: readonly string[] };
  const members = Object.keys(definition.properties);
  return {
    key: definition.propertiesKey,
    alias: definition.propertiesAlias,
    schema,
    secrets: definition.secrets,
    secretsByName: definition.secretsByName ?? [],
    needed(sent) {
      const more = definition.alsoNeeded?.(sent as Sent<S>) ?? [];
      const needed = new Set<string>([...required, ...more]);
      return members.filter((member) => needed.has(member));
    },
    parse: (sent) => definition.parse(sent),
    deviceIds: definition.deviceIds ?? [],
    usesDevices: (properties) => definition.usesDevices?.(properties as P) ?? true,
    namesConnectors: definition.connectorIds !== undefined,
    connectorIds: {
      named: (properties) => definition.connectorIds?.named(properties as P) ?? [],
      renamed: (properties, rename) =>
        definition.connectorIds?.renamed(properties as P, rename) ?? properties,
    },
    namesOnCalls: definition.onCallIds !== undefined,
    onCallIds: {
      named: (properties) => definition.onCallIds?.named(properties as P) ?? [],
      renamed: (properties, rename) =>
        definition.onCallIds?.renamed(properties as P, rename) ?? properties,
    },
  };
}

// Property checks: templates and addresses in the properties of a connector, each error with the name of its member.

export class PropertyChecks {
  readonly #key: string;
  readonly #egress: EgressGuard;

  constructor(key: string, egress: EgressGuard) {
    this.#key = key;
    this.#egress = egress;
  }

  /** Throws `invalidRequest` for the member; without one, for the properties as a whole. */
  refuse(member: string | undefined, reason: string): never {
    const name = [this.#key, member].filter((part) => part !== undefined).join('.');
    throw problem('invalidRequest', { reason: `body ${name}: ${reason}` });
  }

  /** Throws for a template that cannot be parsed or that uses an unknown path. */
  template(member: string, text: string, kind: TemplatePlace = 'text'): void {
    parseTemplate(text, kind, `body ${this.#key}.${member}`);
  }

  /** Throws for a URL that is invalid or that the egress guard forbids. */
  url(member: string, url: string): void {
    this.#egress.checkUrl(url, `${this.#key}.${member}`);
  }

  /** Throws for an endpoint that could not be read or that the egress guard forbids. */
  endpoint(member: string, endpoint: Endpoint | undefined): void {
    if (endpoint === undefined) return this.refuse(member, 'is not a valid target address');
    this.#egress.checkLiteral(endpoint.host);
  }
}
