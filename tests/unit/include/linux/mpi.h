/* SPDX-License-Identifier: BSD-2-Clause */
#include "../shim.h"

typedef struct gcry_mpi *MPI;

MPI mpi_alloc(unsigned int limbs);
