# TVMScript in a Python file, in what Python people write around it.
import os , sys
from somewhere import decorators, elsewhere
from tvm.script import ir as I, relax as R, tirx as T

try:
    import numpy
except ImportError:
    numpy = None

N   =  16

class  Cases :
    async def nothing( self ) : raise ValueError( 'x' )

    def test( self , M ) :
        K = M   # unknown here
        @T.prim_func
        def before(A: T.Buffer((N,),"float32"), B: T.Buffer((K,),"float32")) :
            for i in range(N) :
                A[i]=B[i]+ elsewhere   # ours
        match N :
            case 16 :
                @I.ir_module
                class Module :
                    @R.function
                    def main(x: R.Tensor((4,),"float32")) :
                        y = R.add(x,  x)
                        return y
        return before ,  Module


@T.inline
def twice( x ) :
    T.evaluate(x)
    T.evaluate( x )


import tvm.script as script
from ..script import tirx as T2
from somewhere import prim_func, function


class Later:
    for size in range(3) :
        first , (second , *rest) = size , ( 1 , [] )
        N += 1
        with open( 'x' ) as (f , g) , g :
            del first , rest
            @T2.prim_func(private=True)
            def plain(A: T.Buffer((N,),"float32"), B: T.Buffer((numpy,),"float32")) :
                A[0]=B[0]

    @script.ir_module
    class Empty :
        pass

    @function( x=1 )
    @T.prim_func
    def of_python( ) : pass

    @prim_func
    def of_python_too( ) : pass

    @decorators[0]
    def nor_this( ) : pass

    M : int = 4
    while N :
        M = N

    @T.prim_func
    def last(A: T.Buffer((M,),"float32")) :
        twice( A[0] )


# fmt: off
@T.prim_func
def kept(a : T.int32) :
    T.evaluate( a )
# fmt: on
