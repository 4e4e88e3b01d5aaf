import { type Check, isInteger, isString, nullable, oneOf, shapeFor } from '#shared/shape.ts';

// Messages about whole images of which an output has only thumbnails, between the renderer, the editor and the kernel.

/** The image of an output. `output` is `pictures` of the output's metadata. */
export type PicturePlace = { output: string; column: string; row: number };

/** Requests an image: from the renderer to the editor. */
export type PictureRequest = { kind: 'picture'; request: number; place: PicturePlace };

/** The image in base64; null if the kernel has ended or no longer has the image. */
export type PictureReply = { kind: 'picture'; request: number; data: string | null };

export const isPicturePlace: Check<PicturePlace> = shapeFor<PicturePlace>({
  output: isString,
  column: isString,
  row: isInteger,
});

export const isPictureRequest: Check<PictureRequest> = shapeFor<PictureRequest>({
  kind: oneOf('picture'),
  request: isInteger,
  place: isPicturePlace,
});

export const isPictureReply: Check<PictureReply> = shapeFor<PictureReply>({
  kind: oneOf('picture'),
  request: isInteger,
  data: nullable(isString),
});
