// API schemas of the fields in `deviceFields`: in answers, in requests to create a device and in updates (contract 4).
import Type, { type TOptional, type TSchema, type TUnsafe } from 'typebox';
import {
  type DeviceFieldName,
  deviceFieldRows,
  type DeviceFieldType,
  type DeviceFieldWith,
  type WireName,
} from '../model/device-fields.ts';
import type { Device } from '../model/device.ts';
import { name, object, oneOf, optional, orNull } from './record-fields.ts';

type RequiredField = DeviceFieldWith<'required'>;
type AnswerSchemas = { [Name in DeviceFieldName as WireName<Name>]: TUnsafe<Device[Name]> };
type OptionalSchemas = {
  [Name in Exclude<DeviceFieldName, RequiredField> as WireName<Name>]: TOptional<
    TUnsafe<Device[Name] | null>
  >;
};
type DraftSchemas = OptionalSchemas & {
  [Name in RequiredField as WireName<Name>]: TUnsafe<Device[Name]>;
};
type UpdateSchemas = OptionalSchemas & {
  [Name in RequiredField as WireName<Name>]: TOptional<TUnsafe<Device[Name]>>;
};

type Described = Readonly<Partial<Record<'description', string>>>;

function schemaOf(type: DeviceFieldType, described: Described): TSchema {
  switch (type.kind) {
    case 'name':
      return name;
    case 'text':
      return textSchema(type, described);
    case 'integer':
      return Type.Integer({ minimum: type.min, maximum: type.max, ...described });
    case 'flag':
      return Type.Boolean(described);
    case 'choice':
      return oneOf(type.values);
    case 'object':
      return object;
  }
}

function textSchema(
  { lengthMin, lengthMax }: Extract<DeviceFieldType, { readonly kind: 'text' }>,
  described: Described,
): TSchema {
  const minimum = lengthMin === undefined ? {} : { minLength: lengthMin };
  return Type.String({ ...minimum, maxLength: lengthMax, ...described });
}

const rows = deviceFieldRows.map((row) => {
  const { description } = row;
  const schema = schemaOf(row.type, description === undefined ? {} : { description });
  return { ...row, schema };
});

function schemasOf<Schemas>(schemaOfRow: (row: (typeof rows)[number]) => TSchema): Schemas {
  return Object.fromEntries(rows.map((row) => [row.wireName, schemaOfRow(row)])) as Schemas;
}

/** The fields of a device in answers: all of them, null where that is the initial value. */
export const deviceAnswerFields = schemasOf<AnswerSchemas>(({ initial, schema }) =>
  initial === null ? orNull(schema) : schema,
);

/** The fields of a request to create a device. */
export const deviceDraftFields = schemasOf<DraftSchemas>(({ required, schema }) =>
  required ? schema : optional(schema),
);

/** The fields of an update: none is required. */
export const deviceUpdateFields = schemasOf<UpdateSchemas>(({ required, schema }) =>
  required ? Type.Optional(schema) : optional(schema),
);
